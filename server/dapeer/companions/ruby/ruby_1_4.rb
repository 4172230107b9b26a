# Gives version 1.4 of Ruby's debugger what later ones have: Ruby 3.1 brings it, and so does Debian 12.
#
# There a breakpoint stays once it was set, no event tells the end, and nothing can be evaluated in a frame of C, where an uncaught
# error often was raised. Each change is a row of `patching.rb`.

require_relative 'patching'

module Dapeer
  BEGUN = Queue.new
  STARTED = Process.pid
  # The breakpoints of each file; the debugger keeps one of those on a line, which may be its own on the first.
  WANTED = {}
  OF_1_4 = []
  # As it was before the debugger replaced it.
  RUBYOPT = ENV.delete('DAPEER_RUBYOPT')

  def self.row(name, lost, **needs, &apply)
    OF_1_4 << Row.new(name, whose: 'debug', tried: %w[1.4.0 1.4.0], lost: lost, needs: needs.transform_keys(&:to_s), &apply)
  end

  SENDS = {
    'DEBUGGER__::UI_DAP#send_response': 'req success: message: **kw',
    'DEBUGGER__::UI_DAP#send_event': 'name **kw',
    'DEBUGGER__::Session#in_subsession?': ''
  }.freeze

  # Requests whose answers are others in later versions.
  row 'ruby-requests', 'A breakpoint of a Ruby program stays once it was set, and a start may fail.',
      'DEBUGGER__.initialize_session': 'ui', 'DEBUGGER__::UI_DAP#recv_request': '',
      'DEBUGGER__::UI_DAP#readline': 'prompt', 'DEBUGGER__::UI_DAP#sock': 'skip:',
      'DEBUGGER__::UI_ServerBase#readline': 'prompt', 'DEBUGGER__::UI_ServerBase#sock': 'skip:',
      'DEBUGGER__::Breakpoint#delete': '', 'DEBUGGER__::UI_DAP#respond': 'req res', 'DEBUGGER__::UI_Base#event': 'type *args',
      'DEBUGGER__::UI_DAP#event': 'type *args', **SENDS do
    # The session has a name once it has begun, and only then are requests read: they name it.
    replace(DEBUGGER__.singleton_class, :initialize_session) do |stock, *given, **named|
      stock.call(*given, **named)
    ensure
      BEGUN.close
    end

    # Those of its parent wait for the client.
    %i[readline sock].each do |name|
      stock = DEBUGGER__::UI_DAP.instance_method(name)
      change(-> { DEBUGGER__::UI_DAP.define_method(name, stock) }) { DEBUGGER__::UI_DAP.send(:remove_method, name) }
    end

    # A program that stands before the client has greeted says so to this class, and the client may have come since.
    change(-> { Dapeer.first_stop = nil }) { Dapeer.first_stop = :later }
    replace(DEBUGGER__::UI_Base, :event) do |stock, type, *given, **named|
      stock.call(type, *given, **named)
      next unless type == :suspend_bp

      event(type, *given, **named) unless Dapeer.withheld(given.last) || !is_a?(DEBUGGER__::UI_DAP)
    end

    replace(DEBUGGER__::UI_DAP, :event) do |stock, type, *given, **named|
      _, breakpoint, thread = given
      line = breakpoint.is_a?(DEBUGGER__::LineBreakpoint) # its description is rdbg's own
      next stock.call(type, *given, **named) unless type == :suspend_bp && (line || breakpoint.nil?)

      # A statement that stops, such as `debugger`, has a breakpoint behind it that is gone by now.
      is_statement = breakpoint.nil? && Dapeer.entered?
      case Dapeer.withheld(thread, breakpoint)
      when nil
        reason = line || is_statement ? 'breakpoint' : Dapeer.why(thread)
        send_event 'stopped', reason: reason, threadId: thread, allThreadsStopped: true
      when :twice then @q_msg << 'c'
      end
    end

    # All frames are told at once.
    replace(DEBUGGER__::UI_DAP, :respond) do |stock, request, body|
      stock.call(request, body[:stackFrames] ? { **body, totalFrames: body[:stackFrames].size } : body)
    end

    replace(DEBUGGER__::UI_DAP, :recv_request) do |stock, *given, **named|
      BEGUN.pop
      while (request = stock.call(*given, **named))
        case request['command']
        when 'attach'
          send_response request
        when 'configurationDone'
          send_response request
          # A breakpoint of the first line was set behind it.
          thread, why = Dapeer.first_stop
          send_event 'stopped', reason: why || Dapeer.why(thread), threadId: thread, allThreadsStopped: true if thread
        else
          Dapeer.remove_breakpoints request
          break
        end
      end
      request
    end
  end

  # The program is not paused on its way when the client connects.
  row 'ruby-start', 'A Ruby program is paused on its way when it is debugged.', 'DEBUGGER__::UI_ServerBase#pause': '' do
    replace(DEBUGGER__::UI_DAP, :pause) { |_stock, *, **| }
  end

  # The end is told, and nothing after it; that of a forked child is not the program's.
  row 'ruby-end', 'The end of a Ruby program is not told.',
      'DEBUGGER__::UI_DAP#send': '**kw', 'DEBUGGER__::UI_ServerBase#cleanup_reader': '', **SENDS do
    replace(DEBUGGER__::UI_DAP, :send) { |stock, *given, **named| stock.call(*given, **named) if @sock }
    replace(DEBUGGER__::UI_DAP, :cleanup_reader) do |stock, *given, **named|
      begin
        send_event 'terminated' if Process.pid == STARTED
      rescue SystemCallError, IOError, DEBUGGER__::UI_ServerBase::Terminate
        # The client has gone, or the debugger ends this thread.
      end
      stock.call(*given, **named)
    end
  end

  # A frame of C has no variables, but constants, globals and the error that was raised. What raises is no value.
  row 'ruby-evaluation', 'Nothing can be evaluated in a frame of C, where an uncaught error of a Ruby program often was raised; ' \
                         'an expression that fails has its error as its value.',
      'DEBUGGER__::ThreadClient#process_dap': 'args', 'DEBUGGER__::ThreadClient#evaluate_result': 'r',
      'DEBUGGER__::ThreadClient#special_local_variables': 'frame', 'DEBUGGER__::ThreadClient#event!': 'ev *args' do
    replace(DEBUGGER__::ThreadClient, :process_dap) do |stock, arguments, *given, **named|
      type, request, number, expression, context = arguments
      frame = @target_frames[number] if type == :evaluate
      bare = frame && frame.binding.nil?
      frame.binding = TOPLEVEL_BINDING if bare
      if type == :evaluate && %w[repl watch].include?(context) && frame
        scope = frame.binding.dup
        special_local_variables(current_frame) { |name, value| scope.local_variable_set(name, value) unless name.include?('%') }
        begin
          result = scope.eval(expression.to_s, '(DEBUG CONSOLE)')
        rescue Exception => e
          message = Dapeer.told(e)
        end
        event! :dap_result, :evaluate, request, message: message, tid: id, **evaluate_result(result)
      elsif type == :evaluate && expression == '_raised' && (error = current_frame&.raised_exception)
        event! :dap_result, :evaluate, request, tid: id, result: Dapeer.chain(error), variablesReference: 0
      else
        stock.call(arguments, *given, **named)
      end
    ensure
      frame.binding = nil if bare
    end
  end

  # The program is shown where the error was raised that has ended it, not where the first of its causes was.
  row 'ruby-postmortem', 'An uncaught error of a Ruby program is shown as the first of its causes.',
      'DEBUGGER__::Session#enter_postmortem_session': 'exc', **SENDS do
    replace(DEBUGGER__::UI_DAP, :send_response) do |stock, request, message: nil, **more|
      message = 'The program has ended by this error. It can be looked at, and not stepped.' if message == 'postmortem mode'
      stock.call(request, message: message, **more)
    end

    ended = nil
    noted = guard { ended = $! }
    # Of what is registered for the end, the last runs first, so before the debugger's own.
    trace = TracePoint.new(:raise, &guard { at_exit(&noted) if defined?(DEBUGGER__::SESSION) && trace.disable })
    change(-> { trace.disable }) { trace.enable }
    replace(DEBUGGER__::Session, :enter_postmortem_session) do |stock, first|
      stock.call(ended&.instance_variable_defined?(:@__debugger_postmortem_frames) ? ended : first)
    end
  end

  # Threads that stop while another one stands have their turn once that goes on.
  row 'ruby-threads', 'A Ruby program ends where two of its threads stop at once.',
      'DEBUGGER__::Session#process_event': 'evt', 'DEBUGGER__::Session#leave_subsession': 'type',
      'DEBUGGER__::Session#waiting_thread_clients': '', 'DEBUGGER__::Session#in_subsession?': '',
      'DEBUGGER__::ThreadClient#event!': 'ev *args' do
    replace(DEBUGGER__::ThreadClient, :event!) do |stock, kind, *given|
      if kind == :suspend && given.first != :replay
        Dapeer.stopping[self] = true
        # What ended the stop of another thread may have continued this one just now.
        @q_cmd.clear
      end
      stock.call(kind, *given)
    end

    replace(DEBUGGER__::Session, :process_event) do |stock, event|
      client, _, kind, = event
      stops = kind == :suspend && event[4] != :replay
      next Dapeer.queue << event if stops && in_subsession? && !client.equal?(@tc)
      next if stops && !client.thread.alive?

      Dapeer.stopping.delete(@dapeer_shown = client) if stops
      stock.call(event)
    end

    replace(DEBUGGER__::Session, :waiting_thread_clients) do |stock|
      stock.call.reject { |client| Dapeer.stopping[client] }
    end

    replace(DEBUGGER__::Session, :leave_subsession) do |stock, type|
      # The debugger continues the thread that was looked at last.
      @tc = @dapeer_shown if Dapeer.stopping[@tc]
      stock.call(type)
      Dapeer.queue.each { |event| @q_evt << event }.clear
    end
  end

  # An object without Object's methods, such as a BasicObject, is shown by Kernel's.
  row 'ruby-bare-objects', 'A value without the methods of Object ends the program that is debugged.',
      'DEBUGGER__::ThreadClient#variable_': 'name obj indexedVariables: namedVariables:',
      'DEBUGGER__.safe_inspect': 'obj max_length: short:' do
    replace(DEBUGGER__.singleton_class, :safe_inspect) do |stock, value, *given, **named|
      Dapeer.bare?(value) ? Dapeer.shown(value) : stock.call(value, *given, **named)
    end
    replace(DEBUGGER__::ThreadClient, :variable_) do |stock, name, value, *given, **named|
      Dapeer.bare?(value) ? Dapeer.bare(name, value) : stock.call(name, value, *given, **named)
    end
  end

  # Another Ruby that the program starts would wait for a debugger of its own; one that has its own would take this one's socket.
  row 'ruby-children', 'A Ruby program hangs where it starts another one.' do
    names = %w[RUBYOPT RUBY_DEBUG_SOCK_PATH RUBY_DEBUG_POSTMORTEM]
    given = names.to_h { |name| [name, ENV[name]] }
    change(-> { given.each { |name, value| ENV[name] = value } }) do
      others = Dapeer::RUBYOPT || given['RUBYOPT'].to_s.gsub(%r{-r\s*/\S+/lib/debug/\w+}, '').strip
      names.each { |name| ENV.delete(name) }
      ENV['RUBYOPT'] = others unless others.empty?
    end
  end

  class << self
    # `:later` until the client has set its breakpoints; thread and reason of the first stop where that was before; nil: stops are told.
    # The debugger's thread and the one that reads requests both come here, and the last of them tells the first stop.
    attr_writer :first_stop

    FIRST_STOP = Mutex.new

    def first_stop
      FIRST_STOP.synchronize { (@first_stop if @first_stop != :later).tap { @first_stop = nil } }
    end

    # The clients of threads that stop, until the session shows them; a thread that waits is not to be continued meanwhile.
    def stopping
      @stopping ||= {}.compare_by_identity
    end

    # Stops of threads that have no turn yet.
    def queue
      @queue ||= []
    end

    # Whether the debugger's own stop at the first statement is over.
    def entered?
      FIRST_STOP.synchronize { @begun == :stop }
    end

    # Why a stop is not told now, or nil: `:later`, or `:twice`. The debugger stops at the first statement by itself, too, and where a
    # breakpoint of the user's was there in time, it does so behind that.
    def withheld(thread, breakpoint = nil)
      FIRST_STOP.synchronize do
        twice = breakpoint.nil? && @begun == :breakpoint
        @begun = breakpoint ? @begun || :breakpoint : :stop
        next :twice if twice

        @first_stop = [thread, breakpoint && 'breakpoint'] and :later if @first_stop == :later
      end
    end

    # Why a thread stands still without a breakpoint of the debugger's.
    def why(thread)
      session = DEBUGGER__::SESSION
      frame = session.instance_variable_get(:@th_clients).each_value.find { |each| each.id == thread }&.current_frame
      here = frame && WANTED.fetch(frame.realpath || frame.path, []).any? do |each|
        condition = each['condition']
        each['line'] == frame.location.lineno && !in_method?(session, frame) && (condition.nil? || frame.binding.eval(condition))
      rescue Exception
        true # a condition that fails stops, and says so the next time
      end
      here ? 'breakpoint' : 'pause'
    end

    # An error in one line, as Ruby prints it.
    def told(error)
      "#{error.message.lines.first.to_s.chomp} (#{error.class})"
    rescue Exception
      DEBUGGER__.safe_inspect(error)
    end

    # An error, and what caused it where.
    def chain(error)
      texts = [DEBUGGER__.safe_inspect(error)]
      while (error = error.cause) && texts.size < 6
        place = error.backtrace_locations&.find { |each| each.absolute_path && !each.absolute_path.match?(%r{/gems/|/lib/ruby/}) }
        texts << "caused by #{DEBUGGER__.safe_inspect(error)}#{" at #{File.basename(place.path)}:#{place.lineno}" if place}"
      end
      texts.join("\n")
    end

    # Whether a value lacks the methods by which the debugger shows it.
    def bare?(value)
      !(value.instance_variables.is_a?(Array) && value.class.is_a?(Class))
    rescue Exception
      true
    end

    # Whether a breakpoint on this line is one in the method that begins there.
    def in_method?(session, frame)
      session.instance_variable_get(:@bps).each_value.any? do |each|
        each.is_a?(DEBUGGER__::LineBreakpoint) && each.line == frame.location.lineno && each.iseq && each.iseq.label != frame.iseq.label
      end
    end

    # A variable whose value has none of Object's methods.
    def bare(name, value)
      kind = Kernel.instance_method(:class).bind_call(value).to_s
      { name: name, value: shown(value), type: kind, variablesReference: 0, indexedVariables: 0, namedVariables: 0 }
    end

    # The text of such a value.
    def shown(value)
      of = ->(method, *given) { Kernel.instance_method(method).bind_call(value, *given) }
      members = of[:instance_variables].map { |each| "#{each}=#{DEBUGGER__.safe_inspect(of[:instance_variable_get, each])}" }
      "#<#{[of[:class], *members].join(' ')}>"
    end

    # Removes those that a request does not name any more.
    def remove_breakpoints(request)
      case request['command']
      when 'setBreakpoints'
        path = File.realpath(request.dig('arguments', 'source', 'path').to_s) rescue nil
        WANTED.store(path, request.dig('arguments', 'breakpoints') || [])
        # One that goes away by itself holds the program at its first line.
        remove { |each| each.is_a?(DEBUGGER__::LineBreakpoint) && each.path == path && !each.oneshot? }
      when 'setExceptionBreakpoints'
        remove { |each| each.is_a?(DEBUGGER__::CatchBreakpoint) && %w[Exception RuntimeError].include?(each.key[1]) }
      when 'disconnect'
        remove { true }
        # Nobody continues them any more.
        queue.each { |client,| stopping.delete(client) && client << :continue }.clear
      end
    end

    def remove
      DEBUGGER__::SESSION.instance_variable_get(:@bps).delete_if { |_, each| yield(each) && each.delete }
    end

    # Applies the rows where the debugger in a folder is version 1.4.
    def improve(folder)
      version = File.read("#{folder}/version.rb")[/VERSION = "([^"]+)"/, 1]
      return OF_1_4.each { |row| row.unneeded("version #{version} does this by itself") } unless version.to_s.start_with?('1.4.')

      # They would be loaded next; under `bundle exec` the debugger waits until the program is known.
      require "#{folder}/session"
      return unless defined?(DEBUGGER__::Session)

      %w[server_dap server].each { |each| require "#{folder}/#{each}" }
      OF_1_4.each(&:apply)
    end
  end
end
