# Runs Ruby tests so that Ruby's debugger stops where they fail: `ruby ruby_tests.rb PROGRAM ARGUMENT...`.
#
# A runner rescues what its tests raise, so the debugger sees no uncaught error. This sets breakpoints at the errors
# of failing assertions, and at errors that are mistakes. They are named as strings, since their libraries are loaded
# later. Without a debugger the program just runs.

ASSERTIONS = %w[
  Minitest::Assertion RSpec::Expectations::ExpectationNotMetError RSpec::Mocks::MockExpectationError
  Test::Unit::AssertionFailedError
].freeze
MISTAKES = %w[NoMethodError ZeroDivisionError FrozenError].freeze

# Minitest's `skip` raises an Assertion; `assert_raises` and `raise_error` expect an error.
NOT_SKIPPED = '__method__ != :skip'
NOT_AWAITED = 'caller.none?(/assert_raises|raise_error/)'

if defined?(DEBUGGER__::SESSION)
  catch = ->(name, cond) { DEBUGGER__::SESSION.add_bp(DEBUGGER__::CatchBreakpoint.new(name, cond: cond)) }
  ASSERTIONS.each { |name| catch[name, NOT_SKIPPED] }
  MISTAKES.each { |name| catch[name, NOT_AWAITED] }
end

$PROGRAM_NAME = ARGV.shift
load $PROGRAM_NAME
