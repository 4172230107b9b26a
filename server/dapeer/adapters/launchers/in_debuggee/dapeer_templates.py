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
        except $BaseException:
            $rows.lose()
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
        except $BaseException:
            $rows.lose()
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
else:
    try:
        $v{n} = {value}
{copied}
    except $BaseException as $error:
        $v{n} = $told($failed($error, $e{n}))
        {again}
"""
COPIED = """
$t = $type($v{n})
if not ($t is $int or $t is $float or $t is $bool or $v{n} is None):
    $v{n} = $cell($v{n})
"""
"""What an expression runs later may change a value."""
GUARDED = """
if $e{n}.cut_off >= $enough:
    $v{n} = $given_up
else:
{cell}
"""
CONDITION = """
try:
{reads}
    $met = $bool({value})
except $BaseException as $error:
    $met = False
    $tell($point, $failed($error, $ec))
    {again}
if not $met:
    {over}
    return
"""
VALUE = """
if $e.cut_off >= $enough:
    return $nothing
$begin($now())
try:
{reads}
except $BaseException:
    $missed($no_value)
    $v = $nothing
else:
    try:
        $v = {value}
    except $BaseException as $error:
        $missed($failed($error, $e))
        $v = $nothing
"""
OVER = """
try:
    $over()
except $Overdue:
    pass
"""
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
