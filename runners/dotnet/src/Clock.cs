using System.Diagnostics;

namespace Sqlitmus;

/// <summary>The monotonic clock; another one can stand in for it in tests.</summary>
internal interface IClock
{
    /// <returns>Ticks of <see cref="Stopwatch"/>.</returns>
    long Now();

    /// <summary>Returns at <paramref name="ticks"/> or as soon after as can be.</summary>
    void WaitUntil(long ticks);
}

/// <summary>Ticks of <see cref="Stopwatch"/> as nanoseconds.</summary>
internal static class Clock
{
    private const long PerSecond = 1_000_000_000;

    // Whole on every system but old Windows ones; a constant for the JIT.
    private static readonly long _nanosecondsPerTick = PerSecond % Stopwatch.Frequency == 0 ? PerSecond / Stopwatch.Frequency : 0;

    public static long Nanoseconds(long ticks) =>
        _nanosecondsPerTick != 0 ? ticks * _nanosecondsPerTick : (long)(ticks * (Int128)PerSecond / Stopwatch.Frequency);
}

internal readonly struct SystemClock : IClock
{
    // Linux wakes a sleeper within 0.1 ms; Windows at its timer's next tick.
    private static readonly long _spin = (OperatingSystem.IsWindows() ? 16_000 : 200) * (Stopwatch.Frequency / 1_000_000);

    public long Now() => Stopwatch.GetTimestamp();

    public void WaitUntil(long ticks)
    {
        while (ticks - Now() - _spin is > 0 and var left)
        {
            Native.Sleep(Clock.Nanoseconds(left));
        }

        while (Now() < ticks)
        {
            Thread.SpinWait(1);
        }
    }
}
