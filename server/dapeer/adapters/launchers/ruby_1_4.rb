# Gives version 1.4 of Ruby's debugger what later ones have: Ruby 3.1 brings it, and so does Debian 12.
#
# There a breakpoint stays once it was set, no event tells the end, and nothing can be evaluated in a frame of C, where an uncaught
# error often was raised.

debugger = ENV.fetch('RUBYOPT', '')[%r{-r (/\S+/lib/debug)/\w+}, 1]
return unless debugger && File.read("#{debugger}/version.rb").match?(/VERSION = "1\.4\./)

# It would be loaded next; under `bundle exec` it waits until the program is known.
require "#{debugger}/session"
return unless defined?(DEBUGGER__::Session)

require "#{debugger}/server_dap"

module Dapeer
  BEGUN = Queue.new

  # The session has a name once it has begun, and only then are requests read: they name it.
  module Beginning
    def initialize_session(client)
      super
    ensure
      BEGUN.close
    end
  end

  # Requests whose answers are others in later versions.
  module Requests
    def recv_request
      BEGUN.pop
      while (request = super)
        case request['command']
        when 'attach'
          send_response request
        when 'configurationDone'
          send_response request
          send_event 'stopped', reason: 'pause', threadId: 1, allThreadsStopped: true if DEBUGGER__::SESSION.in_subsession?
        else
          remove_breakpoints request
          return request
        end
      end
    end

    private

    # Removes those that a request does not name any more.
    def remove_breakpoints(request)
      case request['command']
      when 'setBreakpoints'
        path = File.realpath(request.dig('arguments', 'source', 'path').to_s) rescue nil
        # One that goes away by itself holds the program at its first line.
        remove { |each| each.is_a?(DEBUGGER__::LineBreakpoint) && each.path == path && !each.oneshot? }
      when 'setExceptionBreakpoints'
        remove { |each| each.is_a?(DEBUGGER__::CatchBreakpoint) && %w[Exception RuntimeError].include?(each.key[1]) }
      when 'disconnect'
        remove { true }
      end
    end

    def remove
      DEBUGGER__::SESSION.instance_variable_get(:@bps).delete_if { |_, each| yield(each) && each.delete }
    end
  end

  # The program stops at its first line, and there only: it is not paused on its way when the client connects.
  module Start
    def pause; end

    def event(type, *arguments)
      _, breakpoint, thread = arguments
      return super unless type == :suspend_bp && breakpoint.nil?

      send_event 'stopped', reason: 'pause', threadId: thread, allThreadsStopped: true
    end
  end

  # The end is told, and nothing after it.
  module End
    def send(**message)
      super if @sock
    end

    def cleanup_reader
      begin
        send_event 'terminated'
      rescue SystemCallError, IOError
        # The client has gone.
      end
      super
    end
  end

  # A frame of C has no variables, but constants, globals and the error that was raised.
  module Evaluation
    def process_dap(arguments)
      type, _, number = arguments
      frame = @target_frames[number] if type == :evaluate
      bare = frame && frame.binding.nil?
      frame.binding = TOPLEVEL_BINDING if bare
      super
    ensure
      frame.binding = nil if bare
    end
  end
end

DEBUGGER__.singleton_class.prepend(Dapeer::Beginning)
# Those of its parent wait for the client.
DEBUGGER__::UI_DAP.send(:remove_method, :readline, :sock)
DEBUGGER__::UI_DAP.prepend(Dapeer::Requests, Dapeer::Start, Dapeer::End)
DEBUGGER__::ThreadClient.prepend(Dapeer::Evaluation)
