using System.Runtime.InteropServices;

namespace Sqlitmus;

/// <summary>What the class library does not offer: short sleeps, context switches, page faults, macOS's peak of memory.</summary>
internal static class Native
{
    private const long PerSecond = 1_000_000_000;
    private const int Self = 0;
    // struct rusage has two times of two words each, then fourteen numbers.
    private const int RusageWords = 18;
    private const int MaxRssWord = 4;
    private const int MinorFaults = 8;
    private const int MajorFaults = 9;
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

    /// <returns>What all threads have met since the process began; null where the system is not asked.</returns>
    public static Events? Events() => Rusage() is { } usage
        ? new Events(
            new Switches(usage[VoluntarySwitches], usage[InvoluntarySwitches]),
            new PageFaults(usage[MinorFaults], usage[MajorFaults]))
        : null;

    /// <returns>The largest resident set so far in the system's unit, bytes on macOS; null where the system is not asked.</returns>
    public static long? MaxRss() => Rusage() is { } usage ? usage[MaxRssWord] : null;

    private static nint[]? Rusage()
    {
        var usage = new nint[RusageWords];
        return (OperatingSystem.IsLinux() || OperatingSystem.IsMacOS()) && Getrusage(Self, usage) == 0 ? usage : null;
    }

    [DllImport("libc", EntryPoint = "nanosleep")]
    private static extern int Nanosleep(in Timespec request, nint remaining);

    [DllImport("libc", EntryPoint = "getrusage")]
    private static extern int Getrusage(int who, [Out] nint[] usage);

    private readonly record struct Timespec(nint Seconds, nint Nanoseconds);
}
