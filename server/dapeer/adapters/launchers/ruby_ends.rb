# Loaded before a Ruby program, because rdbg's post-mortem session takes `exit` for an uncaught error.
TracePoint.new(:raise) do |raised|
  next unless raised.raised_exception.is_a?(SystemExit) && defined?(DEBUGGER__::CONFIG)

  # The last registered block runs first, so before rdbg's own one.
  at_exit { DEBUGGER__::CONFIG[:postmortem] = false if $!.is_a?(SystemExit) }
end.enable

require_relative 'ruby_1_4'
