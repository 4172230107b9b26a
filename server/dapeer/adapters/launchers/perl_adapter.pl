# Run Perl::LanguageServer; its port takes connections of no other user of the machine.
#
# It debugs for whoever connects, so any user could run code as the one who debugs. Whose a connection is, Linux tells
# in its table of TCP sockets; where there is none, nobody is refused.
use strict;
use warnings;

use Perl::LanguageServer;
use Socket qw(unpack_sockaddr_in);

# Both ends of a connection, as the table writes them: the words of an address in the order of this machine.
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

if (my $serve = Perl::LanguageServer->can('tcp_server')) {
    no warnings qw(redefine prototype);
    *Perl::LanguageServer::tcp_server = sub ($$$;$) {
        my ($host, $port, $handler, @rest) = @_;
        my $admit = sub {
            my ($connection, @from) = @_;
            return is_ours($connection) ? $handler->($connection, @from) : close $connection;
        };
        return $serve->($host, $port, $admit, @rest);
    };
}

Perl::LanguageServer::run();
