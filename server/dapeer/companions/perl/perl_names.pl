# Have Perl::LanguageServer know a module by its absolute name, too, in the program that is debugged.
#
# Perl names a file as it was loaded: `lib/Late.pm` with `use lib 'lib'`, `require './lib/Late.pm'` or a relative PERL5LIB.
# Perl::LanguageServer looks for breakpoints by absolute names alone. The program runs this once its debugger is loaded, and before
# it is compiled itself. Nothing of the program is changed: not @INC, not %INC, not __FILE__.
#
# It is the row `perl-relative-names` of `perl_adapter.pl`. Where Perl::LanguageServer is another one, it runs as it is.
package Dapeer::Names;
use strict;
use warnings;

# The program does not see how this came.
my $own = delete $ENV{DAPEER_PERL5OPT};
delete $ENV{DAPEER_NAMES};
defined $own && length $own ? $ENV{PERL5OPT} = $own : delete $ENV{PERL5OPT};

# Has a loaded file of a relative name found by its absolute one, and frames tell that.
sub replace {
    my ($debugger, $postponed, $send) = @_;
    my %absolute;
    my $name_absolutely = sub {
        my ($name) = @_;
        return if $name =~ m{^/} || !-f $name;
        require Cwd;
        my $absolute = $absolute{$name} = $debugger->can('abs_path_nd')->($name, Cwd::getcwd());
        no strict 'refs';
        # The lines of one name are those of the other, with their breakpoints.
        *{"main::_<$absolute"} = *{"main::_<$name"} unless defined $main::{"_<$absolute"};
        my $waiting = \%{"${debugger}::postponed_breakpoints"};
        $waiting->{$name} = delete $waiting->{$absolute} if exists $waiting->{$absolute};
        return;
    };
    no warnings 'redefine';
    *DB::postponed = sub {
        my $loaded = $_[0];
        my ($name) = ref(\$loaded) eq 'GLOB' ? *{$loaded} =~ /::_<(.+)\z/s : ();
        eval { $name_absolutely->($name) } if defined $name;
        return $postponed->(@_);
    };
    *Perl::LanguageServer::DebuggerInterface::_send = sub {
        my $answer = $_[1]{arguments};
        for my $frame (ref $answer eq 'HASH' ? @{ $answer->{stackFrames} // [] } : ()) {
            my $path = $frame->{source}{path} // '';
            $frame->{source}{path} = $absolute{$path} if exists $absolute{$path};
        }
        return $send->(@_);
    };
    return;
}

my $known = 'Perl::LanguageServer::DebuggerInterface';
if (defined &DB::postponed && $known->can('abs_path_nd') && $known->can('_send')) {
    replace($known, \&DB::postponed, $known->can('_send'));
}

1;
