# An agent that wants to outlive its run: it has the first process of its namespace take its parent-death signal and its group
# off, wipes that process's environment, starts a process of its own, and kills the bwrap outside by the group.
# `perl outlive.pl <folder>`: tells in <folder>/said how far it came; what stays behind writes <folder>/stays. For x86_64.
use strict;
use POSIX ();

my ($PTRACE, $ATTACH, $GETREGS, $SETREGS, $STEP, $DETACH) = (101, 16, 12, 13, 9, 17);
my ($RAX, $RDX, $RSI, $RDI, $ORIG_RAX, $RIP) = (10, 12, 13, 14, 15, 16);
my ($folder) = @ARGV;

sub tell_and { my ($said) = @_; open(my $f, ">", "$folder/said") or die; print $f $said; close $f; }

# Has process 1 do one system call: it waits in one, so the instruction for it lies right before where it is.
sub have_it_call {
  my @call = @_;
  my $saved = "\0" x 216;
  syscall($PTRACE, $GETREGS, 1, 0, $saved);
  my @regs = unpack("Q27", $saved);
  @regs[$RIP, $RAX, $ORIG_RAX, $RDI, $RSI, $RDX] = ($regs[$RIP] - 2, $call[0], ~0, $call[1], $call[2], 0);
  my $changed = pack("Q27", @regs);
  syscall($PTRACE, $SETREGS, 1, 0, $changed);
  syscall($PTRACE, $STEP, 1, 0, 0);
  waitpid(1, 0);
  syscall($PTRACE, $SETREGS, 1, 0, $saved);
}

sub wipe_environment {
  open(my $stat, "<", "/proc/1/stat") or return "no stat: $!";
  my @fields = split / /, (split /\) /, <$stat>)[1];
  open(my $memory, "+<", "/proc/1/mem") or return "no memory: $!";
  sysseek($memory, $fields[47], 0);
  my $length = $fields[48] - $fields[47];
  return syswrite($memory, "x" x $length) == $length ? "" : "not written: $!";
}

sub take_over {
  return "no ptrace: $!" if syscall($PTRACE, $ATTACH, 1, 0, 0) == -1;
  waitpid(1, 0);
  have_it_call(157, 1, 0);
  have_it_call(112, 0, 0);
  my $problem = wipe_environment();
  syscall($PTRACE, $DETACH, 1, 0, 0);
  return $problem || "taken over";
}

tell_and(take_over());
if (fork() == 0) {
  POSIX::setsid();
  POSIX::close($_) for 0 .. 9;
  chdir $folder;
  %ENV = (PATH => "/usr/bin:/bin");
  exec "sh", "-c", 'echo $$ > .stays; mv .stays stays; while :; do sleep 0.05; done';
}
select(undef, undef, undef, 0.01) until -s "$folder/stays";
kill "KILL", 0;
