# The register of what dapeer changes in other people's Ruby; the twin of `dapeer_debuggee/patching.py`.
#
# A row that does not fit is off, and where one of its functions raises, the stock function does the work of that call, and the row is
# off from then on. A line on stderr names a row that is off, with what is lost; dapeer hides that line from the program's output.

module Dapeer
  # What a row needs is not there.
  class Misfit < StandardError; end

  # One patch.
  class Row
    MARK = 'dapeer-patch-off '.freeze
    # The word by which dapeer knows a line of ours from one that the program prints; the program does not get it.
    WORD = ENV.delete('DAPEER_WORD').to_s.freeze
    MOST = 300 # characters of a reason
    # A class may have a method of that name.
    AS_METHOD = BasicObject.instance_method(:instance_exec)
    NOT_YET = 'unused: it was not applied yet'.freeze

    @all = []
    class << self
      attr_reader :all

      def switched_off?(name)
        words = ENV.fetch('DAPEER_PATCHES', '').split(/[\s,]+/)
        words.include?('off') || words.include?("-#{name}")
      end

      # Prints all rows, as `dapeer doctor --patches` shows them.
      def list
        require 'json'
        puts JSON.generate(all.map(&:shown))
      end
    end

    attr_reader :off

    # `needs` are methods with their parameters, `Class#method` or `Class.method` => "req opt= *rest key: **more".
    def initialize(name, whose:, tried:, lost:, needs:, &apply)
      @name, @whose, @tried, @lost, @needs, @apply = name, whose, tried, lost, needs, apply
      @off = NOT_YET
      @undoes = []
      Row.all << self
    end

    def shown
      { name: @name, whose: @whose, tried: @tried.uniq.join(' to '), lost: @lost, off: @off }
    end

    # Leaves a version alone that does by itself what the row adds.
    def unneeded(why)
      @off = "unused: #{why}"
    end

    # Applies it where all is there that it needs. Raises nothing.
    def apply
      return @off = 'switched off by DAPEER_PATCHES' if Row.switched_off?(@name)

      probe
      @off = nil
      instance_exec(&@apply)
    rescue StandardError, ScriptError => e
      undo
      fail_for(e)
    end

    # Replaces a method: `ours` is called as a method of the object, with the stock one first.
    def replace(owner, name, &ours)
      row = self
      owner.prepend(Module.new do
        define_method(name) do |*given, **named, &block|
          next super(*given, **named, &block) if row.off

          call = Call.new { |*passed, **keys| super(*passed, **keys, &block) }
          begin
            AS_METHOD.bind_call(self, call, *given, **named, &ours)
          rescue StandardError, ScriptError => e
            raise if call.raised.equal?(e)

            row.fail_for(e)
            call.instead(*given, **named)
          end
        end
      end)
    end

    # Does something that `back` takes back where the row fails.
    def change(back)
      yield
      @undoes << back
    end

    # Returns what is called by other software: `ours`, or nothing once that has raised.
    def guard(&ours)
      proc do |*given|
        ours.call(*given) unless off
      rescue StandardError, ScriptError => e
        fail_for(e)
        nil
      end
    end

    # Switches it off for an error, and tells that.
    def fail_for(error)
      return if @off.to_s.start_with?('failed: ')

      why = error.is_a?(Misfit) ? error.message : "#{error.class}: #{error.message}"
      @off = "failed: #{why}"
      return if WORD.empty?

      require 'json'
      told = { name: @name, lost: @lost, why: why[0, MOST] }
      STDERR.write("#{MARK}#{WORD} #{JSON.generate(told)}\n")
    rescue SystemCallError, IOError
      # Nobody reads it.
    end

    private

    def probe
      @needs.each do |target, known|
        owner, kind, name = target.rpartition(/[#.]/)
        found = owner.split('::').inject(Object) { |scope, each| scope.const_get(each) }
        found = found.singleton_class if kind == '.'
        takes = Row.shape(found.instance_method(name))
        raise Misfit, "#{target} takes (#{takes}), not (#{known})" unless takes == known
      rescue NameError
        raise Misfit, "there is no #{target}"
      end
    end

    def undo
      @undoes.pop.call until @undoes.empty?
    end

    # The parameters of a method in one line.
    def self.shape(method)
      forms = { opt: '%s=', rest: '*%s', key: '%s:', keyreq: '%s:!', keyrest: '**%s', block: '&%s' }
      method.parameters.map { |kind, name| format(forms.fetch(kind, '%s'), name) }.join(' ')
    end
  end

  # A call of a replaced method, as far as it has called the stock one.
  class Call
    attr_reader :raised

    def initialize(&stock)
      @stock, @done = stock, []
    end

    def call(...)
      @done = [@stock.call(...)]
      @done.first
    rescue Exception => e
      @raised = e
      raise
    end

    # What the stock method has returned, or returns.
    def instead(...)
      @done.empty? ? @stock.call(...) : @done.first
    end
  end
end
