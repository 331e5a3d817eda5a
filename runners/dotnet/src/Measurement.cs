namespace Sqlitmus;

/// <summary>Iterations of a crew: times in nanoseconds, and the tally that all of them share.</summary>
internal sealed record Timings(
    Tally Tally,
    IReadOnlyList<long> WarmupNs,
    IReadOnlyList<long> IterationsNs,
    Cpu Cpu,
    WorkerResult[] Workers);

/// <summary>An iteration did not return what the first one did.</summary>
internal sealed class UnequalException(string message) : Exception(message);

internal static class Measurement
{
    /// <summary>Warms up until both minima are reached, then measures.</summary>
    /// <exception cref="UnequalException">Two iterations differ in rows, affected rows or checksum.</exception>
    /// <exception cref="StatementException">A statement failed.</exception>
    public static Timings Take(Measure measure, Func<Lap[]> iterate)
    {
        var warmup = new List<long>();
        var measured = new List<long>(measure.Iterations);
        var laps = new List<Lap[]>(measure.Iterations);
        Tally? expected = null;
        var warm = 0L;
        while (warmup.Count < measure.WarmupIterations || warm < measure.WarmupNs)
        {
            var lap = iterate();
            Check(lap);
            var elapsed = Elapsed(lap);
            warmup.Add(elapsed);
            // Iterations of nothing take no time; they must not go on for ever.
            warm += Math.Max(elapsed, 1);
        }

        TimeSpan user = default, system = default;
        for (var index = 0; index < measure.Iterations; index++)
        {
            var before = Environment.CpuUsage;
            var lap = iterate();
            var after = Environment.CpuUsage;
            user += after.UserTime - before.UserTime;
            system += after.PrivilegedTime - before.PrivilegedTime;
            Check(lap);
            measured.Add(Elapsed(lap));
            laps.Add(lap);
        }

        var cpu = new Cpu((long)user.TotalNanoseconds, (long)system.TotalNanoseconds);
        return new Timings(expected!.Value, warmup, measured, cpu, Workers(measure, laps));

        void Check(Lap[] lap)
        {
            var tally = Sum(lap);
            expected ??= tally;
            if (!tally.Equals(expected.Value))
            {
                throw new UnequalException(
                    $"iteration {warmup.Count + measured.Count + 1} returned {tally}; the first returned {expected.Value}");
            }
        }
    }

    public static Tally Sum(Lap[] laps)
    {
        Tally sum = default;
        foreach (var lap in laps)
        {
            sum.Add(lap.Tally);
        }

        return sum;
    }

    private static long Elapsed(Lap[] laps) =>
        Clock.Nanoseconds(laps.Max(lap => lap.End) - laps.Min(lap => lap.Start));

    private static WorkerResult[] Workers(Measure measure, List<Lap[]> laps)
    {
        return measure.Workers == 1 ? [] : [.. Enumerable.Range(0, measure.Workers).Select(Of)];

        WorkerResult Of(int worker)
        {
            var (begin, end) = Shares.Of(measure.OperationsPerIteration, worker, measure.Workers);
            var tally = laps[^1][worker].Tally;
            var times = laps.Select(lap => Clock.Nanoseconds(lap[worker].End - lap[worker].Start));
            return new WorkerResult(end - begin, tally.Rows, tally.Checksum, [.. times]);
        }
    }
}
