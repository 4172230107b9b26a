# Loaded before a Ruby program: adapts Ruby's debugger by rows of `patching.rb`.
#
#     ruby -r ruby_ends.rb -e Dapeer.list          prints the rows as JSON

require_relative 'ruby_1_4'

module Dapeer
  EXITS = Row.new(
    'ruby-exits', whose: 'debug', tried: %w[1.4.0 1.4.0],
    lost: 'A Ruby program that calls `exit` stops there as at an uncaught error.',
    needs: {} # It only adds: the debugger may be loaded later.
  ) do
    # rdbg's post-mortem session takes `exit` for an uncaught error.
    ends = guard { DEBUGGER__::CONFIG[:postmortem] = false if $!.is_a?(SystemExit) && defined?(DEBUGGER__::CONFIG) }
    # The last registered block runs first, so before rdbg's own one.
    raised = guard { |event| at_exit(&ends) if event.raised_exception.is_a?(SystemExit) }
    trace = TracePoint.new(:raise, &raised)
    change(-> { trace.disable }) { trace.enable }
  end

  # Prints what is changed in the installed debugger.
  def self.list
    folder = "#{Gem::Specification.find_by_name('debug').full_gem_path}/lib/debug"
    improve(folder)
    require "#{folder}/session"
    EXITS.apply
    require_relative 'ruby_tests'
    TESTS.apply
    TEST_ERRORS.apply
    Row.list
  end
end

debugger = ENV.fetch('RUBYOPT', '')[%r{-r (/\S+/lib/debug)/\w+}, 1]
if debugger
  Dapeer.improve(debugger)
  Dapeer::EXITS.apply
end
