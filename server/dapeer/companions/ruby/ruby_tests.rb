# Runs Ruby tests so that Ruby's debugger stops where they fail: `ruby ruby_tests.rb PROGRAM ARGUMENT...`.
#
# A runner rescues what its tests raise, so the debugger sees no uncaught error. This sets breakpoints at the errors
# of failing assertions, and at errors that are mistakes. They are named as strings, since their libraries are loaded
# later. Without a debugger the program just runs.

require_relative 'patching'

ASSERTIONS = %w[
  Minitest::Assertion RSpec::Expectations::ExpectationNotMetError RSpec::Mocks::MockExpectationError
  Test::Unit::AssertionFailedError
].freeze
MISTAKES = %w[NoMethodError ZeroDivisionError FrozenError].freeze

# Minitest's `skip` raises an Assertion; `assert_raises` and `raise_error` expect an error.
NOT_SKIPPED = '__method__ != :skip'
NOT_AWAITED = 'caller.none?(/assert_raises|raise_error/)'

module Dapeer
  TESTS = Row.new(
    'ruby-tests', whose: 'debug', tried: %w[1.4.0 1.4.0],
    lost: 'The program does not stop where a test of RSpec, Minitest or Test::Unit fails.',
    needs: { 'DEBUGGER__::Session#add_bp' => 'bp', 'DEBUGGER__::CatchBreakpoint#initialize' => 'pat cond: command: path:' }
  ) do
    catches = ->(name, cond) { DEBUGGER__::SESSION.add_bp(DEBUGGER__::CatchBreakpoint.new(name, cond: cond)) }
    if defined?(DEBUGGER__::SESSION)
      ASSERTIONS.each { |name| catches[name, NOT_SKIPPED] }
      MISTAKES.each { |name| catches[name, NOT_AWAITED] }
    end
  end
end

# What a runner does with an error that a test has not rescued. Newer versions of Minitest keep a copy of it alone.
FAILED = {
  'RSpec::Core::Example' => :set_exception, 'Minitest::Test' => :sanitize_exception, 'Minitest::UnexpectedError' => :initialize,
  'Test::Unit::ErrorHandler' => :add_error
}.freeze

module Dapeer
  # Its frames are kept by the debugger as for an error that ends the program.
  TEST_ERRORS = Row.new(
    'ruby-test-errors', whose: 'debug', tried: %w[1.4.0 1.4.0],
    lost: 'The program stops at failing assertions of Ruby tests, and not at all other errors.',
    needs: { 'DEBUGGER__::Session#check_postmortem' => '', 'DEBUGGER__::CatchBreakpoint#initialize' => 'pat cond: command: path:' }
  ) do
    seen = lambda do |error|
      DEBUGGER__::SESSION.instance_variable_get(:@bps).each_value.any? { |each| each.is_a?(DEBUGGER__::CatchBreakpoint) && each.last_exc.equal?(error) }
    end
    found = {}
    row = self
    trace = TracePoint.new(:end, &guard do
      FAILED.each do |name, method|
        next if found[name] || !Object.const_defined?(name)

        owner = Object.const_get(name)
        next unless owner.method_defined?(method) || owner.private_method_defined?(method)

        found[name] = true
        row.replace(owner, method) do |stock, error, *given|
          pending = respond_to?(:metadata) && metadata[:pending]
          DEBUGGER__::SESSION.enter_postmortem_session(error) unless pending || seen[error]
          stock.call(error, *given)
        end
      end
    end)
    change(-> { trace.disable }) { trace.enable }
  end
end

if __FILE__ == $PROGRAM_NAME
  if defined?(DEBUGGER__::SESSION)
    Dapeer::TESTS.apply
    Dapeer::TEST_ERRORS.apply
  end
  $PROGRAM_NAME = ARGV.shift
  load $PROGRAM_NAME
end
