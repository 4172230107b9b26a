# Run Perl::LanguageServer so that it rejects connections of other users of the machine.
#
# It serves every client that connects, so any user could run code as the user who debugs. Linux lists the user of
# each connection in /proc/net/tcp; where that is missing, no connection is rejected.
use strict;
use warnings;

use Perl::LanguageServer;
use Socket qw(unpack_sockaddr_in);

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
