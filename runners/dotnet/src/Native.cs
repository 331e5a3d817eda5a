using System.Runtime.InteropServices;

namespace Sqlitmus;

/// <summary>What the class library does not offer: short sleeps, and counts of context switches.</summary>
internal static class Native
{
    private const long PerSecond = 1_000_000_000;
    private const int Self = 0;
    // struct rusage has two times of two words each, then fourteen numbers.
    private const int RusageWords = 18;
    private const int VoluntarySwitches = 16;
    private const int InvoluntarySwitches = 17;

    /// <summary>Sleeps for <paramref name="nanoseconds"/>; Thread.Sleep knows milliseconds only.</summary>
    public static void Sleep(long nanoseconds)
    {
        if (OperatingSystem.IsWindows())
        {
            Thread.Sleep(TimeSpan.FromMicroseconds(nanoseconds / 1000));
            return;
        }

        // A signal may end it early: callers look at the clock.
        _ = Nanosleep(new Timespec((nint)(nanoseconds / PerSecond), (nint)(nanoseconds % PerSecond)), 0);
    }

    /// <returns>Context switches of all threads since the process began; null where the system is not asked.</returns>
    public static Switches? Switches()
    {
        var usage = new nint[RusageWords];
        return OperatingSystem.IsLinux() && Getrusage(Self, usage) == 0
            ? new Switches(usage[VoluntarySwitches], usage[InvoluntarySwitches])
            : null;
    }

    [DllImport("libc", EntryPoint = "nanosleep")]
    private static extern int Nanosleep(in Timespec request, nint remaining);

    [DllImport("libc", EntryPoint = "getrusage")]
    private static extern int Getrusage(int who, [Out] nint[] usage);

    private readonly record struct Timespec(nint Seconds, nint Nanoseconds);
}
