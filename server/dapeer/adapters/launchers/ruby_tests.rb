# Runs Ruby tests so that Ruby's debugger stops where they fail: `ruby ruby_tests.rb PROGRAM ARGUMENT...`.
#
# A runner rescues what its tests raise, so nothing is ever uncaught. So the debugger, which runs in this
# process, is told to stop at what a failing assertion raises, and at what nobody means to raise. The errors
# are known by their names: their libraries come later. Without a debugger the program only runs.

ASSERTIONS = %w[
  Minitest::Assertion RSpec::Expectations::ExpectationNotMetError RSpec::Mocks::MockExpectationError
  Test::Unit::AssertionFailedError
].freeze
MISTAKES = %w[NoMethodError ZeroDivisionError FrozenError].freeze

# Minitest's skip is an assertion; some assertions wait for an error.
NOT_SKIPPED = '__method__ != :skip'
NOT_AWAITED = 'caller.none?(/assert_raises|raise_error/)'

if defined?(DEBUGGER__::SESSION)
  ASSERTIONS.each { |name| DEBUGGER__::SESSION.add_catch_breakpoint(name, cond: NOT_SKIPPED) }
  MISTAKES.each { |name| DEBUGGER__::SESSION.add_catch_breakpoint(name, cond: NOT_AWAITED) }
end

$PROGRAM_NAME = ARGV.shift
load $PROGRAM_NAME
