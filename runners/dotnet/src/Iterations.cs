namespace Sqlitmus;

/// <summary>Iterations of all workers: times in nanoseconds, and what one of them returned.</summary>
internal sealed record Timings(
    Tally Tally,
    IReadOnlyList<long> WarmupNs,
    IReadOnlyList<long> IterationsNs,
    Usage Usage,
    long Allocated,
    WorkerResult[] Workers,
    Tally[] Answers);

internal static class Iterations
{
    /// <summary>Warms up until both minima are reached, then measures.</summary>
    /// <exception cref="MeasurementException">Two iterations differ in rows, affected rows or checksum.</exception>
    /// <exception cref="StatementException">A statement failed.</exception>
    public static Timings Take(Job job, Workers workers)
    {
        var measure = job.Measure;
        var warmup = new List<long>();
        var measured = new List<long>(measure.Iterations);
        var laps = new List<Lap[]>(measure.Iterations);
        Tally? expected = null;
        var busy = 0L;
        var warm = 0L;
        while (warmup.Count < measure.WarmupIterations || warm < measure.WarmupNs)
        {
            var lap = workers.Iterate();
            Check(lap);
            var elapsed = Elapsed(lap);
            warmup.Add(elapsed);
            // Iterations of nothing take no time; they must not go on for ever.
            warm += Math.Max(elapsed, 1);
        }

        foreach (var session in workers.Sessions)
        {
            session.Forget();
        }

        Usage usage = default;
        for (var index = 0; index < measure.Iterations; index++)
        {
            var lap = workers.Iterate();
            var used = workers.UsageAtEnd - workers.UsageAtStart;
            usage = index == 0 ? used : usage + used;
            Check(lap);
            measured.Add(Elapsed(lap));
            laps.Add(lap);
        }

        Tally[] answers = measure.Changing ? [.. laps.Select(lap => Sum(workers.Parts, lap))] : [];
        var allocated = laps.Sum(lap => lap.Sum(own => own.Allocated));
        return new Timings(
            Sum(workers.Parts, laps[^1]), warmup, measured, usage, allocated, Entries(job, workers, laps), answers);

        void Check(Lap[] lap)
        {
            var tally = Sum(workers.Parts, lap);
            expected ??= tally;
            busy += lap.Sum(own => own.Busy);
            var same = measure.Mixed ? tally.Affected == expected.Value.Affected : tally.Equals(expected.Value);
            if (!measure.Changing && busy == 0 && !same)
            {
                throw new MeasurementException(
                    $"iteration {warmup.Count + measured.Count + 1} returned {tally}; the first returned {expected.Value}");
            }
        }
    }

    private static Tally Sum(Part[] parts, Lap[] laps)
    {
        Tally sum = default;
        foreach (var (part, lap) in parts.Zip(laps))
        {
            if (!part.IsWriter)
            {
                sum.Add(lap.Tally);
            }
        }

        return sum;
    }

    private static long Elapsed(Lap[] laps) =>
        Clock.Nanoseconds(laps.Max(lap => lap.End) - laps.Min(lap => lap.Start));

    private static WorkerResult[] Entries(Job job, Workers workers, List<Lap[]> laps)
    {
        var measure = job.Measure;
        var asked = measure.Workers > 1 || measure.Latencies || measure.Rate is not null || measure.Barrier
            || job.Writer is not null;
        return asked ? [.. workers.Sessions.Select(Of)] : [];

        WorkerResult Of(Session session, int index)
        {
            Lap[] own = [.. laps.Select(lap => lap[index])];
            var tally = own[^1].Tally;
            return new WorkerResult(
                workers.Parts[index].IsWriter ? "writer" : "worker",
                workers.Parts[index].Operations,
                tally.Rows,
                tally.Checksum,
                [.. own.Select(lap => Clock.Nanoseconds(lap.End - lap.Start))],
                measure.Barrier ? [.. own.Select(lap => (Microseconds(lap.StartUtc), Microseconds(lap.EndUtc)))] : [],
                session.Latencies,
                session.Pacing,
                own.Sum(lap => lap.Busy));
        }
    }

    /// <summary>Microseconds of Unix time.</summary>
    private static double Microseconds(DateTime utc) => (utc - DateTime.UnixEpoch).Ticks / (double)TimeSpan.TicksPerMicrosecond;
}
