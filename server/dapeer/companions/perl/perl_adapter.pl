# Run Perl::LanguageServer so that it rejects connections of other users of the machine, and ends with dapeer.
#
# It serves every client that connects, so any user could run code as the user who debugs. Linux lists the user of
# each connection in /proc/net/tcp; where that is missing, no connection is rejected.
#
#     perl perl_adapter.pl ARGUMENT...
#     perl perl_adapter.pl --patches       print the row of the register as JSON, and start nothing
#
# The change is a row, as those of `dapeer_debuggee/patching.py`: where it does not fit, or fails, Perl::LanguageServer runs as it
# is, and a line on stderr, which dapeer reads, says what is lost.
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use JSON::PP qw(encode_json);
use Perl::LanguageServer;
use Socket qw(unpack_sockaddr_in);

my %row = (
    name => 'perl-port-for-us', whose => 'Perl::LanguageServer', tried => '2.5.0', off => '',
    lost => 'Other users of this machine can connect to the port of Perl::LanguageServer, and run code as you, while a program is debugged.',
);
# The word by which dapeer knows a line of ours from one that the program prints; the program does not get it.
my $word = delete $ENV{DAPEER_WORD};
my %names = (
    name => 'perl-relative-names', whose => 'Perl::LanguageServer', tried => '2.5.0', off => '',
    lost => 'A breakpoint in a module that Perl loads by a relative name (`use lib "lib"`) is never reached.',
);
my $lists = (@ARGV && $ARGV[0] eq '--patches');

# Switches the row off, and tells that, also where the user wants it: others can reach the program then.
sub switch_off {
    my ($state, $why) = @_;
    return if $row{off};
    $row{off} = "$state$why";
    syswrite STDERR, "\ndapeer-patch-off $word " . encode_json({ %row{qw(name lost)}, why => substr($why, 0, 300) }) . "\n" if $word && !$lists;
    return;
}

# An end of a connection, as /proc/net/tcp writes it: the address in the byte order of this machine.
sub spelled {
    my ($port, $address) = unpack_sockaddr_in($_[0]);
    return sprintf '%08X:%04X', unpack('L', $address), $port;
}

sub is_ours {
    my ($connection) = @_;
    open my $table, '<', '/proc/net/tcp' or return 1;
    my $name = getpeername($connection) or return 0;
    my ($there, $here) = (spelled($name), spelled(getsockname($connection)));
    while (my $line = <$table>) {
        my (undef, $near, $far, undef, undef, undef, undef, $uid) = split ' ', $line;
        return $uid == 0 || $uid == $> if $near eq $there && $far eq $here;
    }
    return 0;
}

# Rejects connections of others at the port that is opened by this function.
sub replace {
    my ($serve) = @_;
    die "there is no tcp_server\n" unless $serve;
    my $takes = prototype($serve) // '';
    die "tcp_server takes ($takes), not (\$\$\$;\$)\n" unless $takes eq '$$$;$';
    no warnings qw(redefine prototype);
    *Perl::LanguageServer::tcp_server = sub ($$$;$) {
        my ($host, $port, $handler, @rest) = @_;
        my $admit = sub {
            my ($connection, @more) = @_;
            my $is_ours = 1;
            eval { $is_ours = $row{off} || is_ours($connection); 1 } or switch_off('failed: ', $@);
            return $is_ours ? $handler->($connection, @more) : close $connection;
        };
        return $serve->($host, $port, $admit, @rest);
    };
    return;
}

my @words = split /[\s,]+/, $ENV{DAPEER_PATCHES} // '';
if (grep { $_ eq 'off' || $_ eq "-$row{name}" } @words) {
    switch_off('', 'switched off by DAPEER_PATCHES');
}
elsif (!eval { replace(Perl::LanguageServer->can('tcp_server')); 1 }) {
    chomp(my $why = $@);
    switch_off('failed: ', $why);
}

if (grep { $_ eq 'off' || $_ eq "-$names{name}" } @words) {
    $names{off} = 'switched off by DAPEER_PATCHES';
}

if ($lists) {
    print encode_json([\%row, \%names]), "\n";
    exit;
}

# The program runs this before it is compiled itself; it has the user's own PERL5OPT again then.
if (!$names{off}) {
    @ENV{qw(DAPEER_NAMES DAPEER_PERL5OPT)} = (dirname(abs_path(__FILE__)) . '/perl_names.pl', $ENV{PERL5OPT} // '');
    $ENV{PERL5OPT} = join ' ', grep { length } $ENV{DAPEER_PERL5OPT}, '-M5.008;BEGIN{do($ENV{DAPEER_NAMES}//"")};';
}

# dapeer holds the other end of stdin. When it is gone, whoever was killed, the program ends, too: it is in this group of processes,
# which dapeer has started.
my $held = eval {
    require AnyEvent;
    AnyEvent->io(
        fh   => \*STDIN,
        poll => 'r',
        cb   => sub { kill 'KILL', 0 unless sysread STDIN, my $text, 4096; },
    );
};

Perl::LanguageServer::run();
