"""The statements of which recorders are made."""

# `$` begins a name of ours.
FACTORY = """
def $factory({given}):
    {global_}
    $shape = $shapes.latest
    def $record($frame, $context=0):
        {outer} $shape
        try:
{body}
        except $RecursionError:
            pass
        except $BaseException as $error:
            if $of_program($error):
                raise
{alone}
    return $record
"""
ALONE = """
def $made($here, $at, $plan, $elsewhere, $current, $id):
    def $called($code, $line):
        {outer} $shape
        if $code is not $here or $line != $at:
            return $elsewhere($code, $line, 2)
        try:
            $frame = $current(1)
            $known, $context = $plan.around
            if $known != $id($frame):
                $context = $plan.stay($frame)
{body}
        except $RecursionError:
            pass
        except $BaseException as $error:
            if $of_program($error):
                raise
    return $called
$record.called = $made
"""
"""What Python calls at a line by itself, while it comes by no other one."""
LOCAL = """
try:
    $v{n} = $locals[{name!r}]
except $KeyError:
    $v{n} = $no_value
"""
VALUE_OF = """
try:
{reads}
except $KeyError:
    $v{n} = $no_value
except $BaseException as $error:
    $v{n} = $cell_text({failed})
    {again}
else:
    try:
        $v{n} = {value}
{copied}
    except $BaseException as $error:
        $v{n} = $cell_text({failed})
        {again}
"""
COPIED = """
$t = $type($v{n})
if not ($t is $int or $t is $float or $t is $bool or $v{n} is None):
    $v{n} = $cell($v{n})
"""
"""What an expression runs later may change a value."""
GUARDED = """
$since = $now()
if $e{n}.waits($since):
    $v{n} = $waiting
else:
{cell}
"""
CONDITION = """
$since = $now()
if $ec.waits($since):
    $report($point, $waiting)
    return
try:
{reads}
    $met = $bool({value})
except $BaseException as $error:
    $met = False
    $report($point, $failed($error, $ec, $since))
    {again}
if not $met:
    return
"""
UNKNOWN_CELL = """
if $lacks({names!r}, $frame):
    $v{n} = $unknown{n}
else:
{cell}
"""
"""Looks for the names alone, while there are none: they may come."""
UNKNOWN_CONDITION = """
if $lacks({names!r}, $frame):
    $unmet($point, $unknown)
    return
"""
VALUE = """
$since = $now()
if $e.waits($since):
    $missed($waiting)
    return $nothing
try:
{reads}
except $KeyError:
    $missed($no_value)
    $v = $nothing
except $BaseException as $error:
    $missed($failed($error, $e, $since))
    $v = $nothing
else:
    try:
        $v = {value}
    except $BaseException as $error:
        $missed($failed($error, $e, $since))
        $v = $nothing
"""
WATCHED = """
try:
    $begin($now())
{body}
finally:
    try:
        $over()
    except $CutOff:
        pass
"""
"""Whatever happens, the watch ends: what it raises later would be raised in the program."""
ENOUGH_HITS = """
if $hit > $most:
    return $point.end()
"""
ROW = """
{types}$pack, $head = $shape
try:
    if {alike}:
        $line = $pack($head, $context, $hit, {values}$now())
    else:
        $line = $shapes.line($hit, $context, ({values}))
        $shape = $shapes.latest
except $StructError:
    $line = $shapes.text($hit, $context, ({values}))
try:
    $rows.write($line)
except $ValueError:
    $rows.kept($line)
"""
