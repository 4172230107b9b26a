# Loaded before a program of Ruby: rdbg's post-mortem session takes `exit` for an error that nobody rescues.
TracePoint.new(:raise) do |raised|
  next unless raised.raised_exception.is_a?(SystemExit) && defined?(DEBUGGER__::CONFIG)

  # What is registered last runs first, so before rdbg looks.
  at_exit { DEBUGGER__::CONFIG[:postmortem] = false if $!.is_a?(SystemExit) }
end.enable
