namespace Sqlitmus;

/// <summary>Iterations of all workers: times in nanoseconds, and what each of them returned, warm-up first.</summary>
internal sealed record Timings(
    IReadOnlyList<long> WarmupNs,
    IReadOnlyList<long> IterationsNs,
    Usage Usage,
    long Allocated,
    WorkerResult[] Workers,
    Tally[] Answers);

internal static class Iterations
{
    /// <summary>Warms up until both minima are reached, then measures.</summary>
    /// <exception cref="StatementException">A statement failed.</exception>
    public static Timings Take(Job job, Workers workers)
    {
        var measure = job.Measure;
        var warmup = new List<long>();
        var measured = new List<long>(measure.Iterations);
        var laps = new List<Lap[]>();
        var warm = 0L;
        while (warmup.Count < measure.WarmupIterations || warm < measure.WarmupNs)
        {
            var lap = workers.Iterate();
            laps.Add(lap);
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
            laps.Add(lap);
            measured.Add(Elapsed(lap));
        }

        Tally[] answers = [.. laps.Select(lap => Sum(workers.Parts, lap))];
        var allocated = laps.Skip(warmup.Count).Sum(lap => lap.Sum(own => own.Allocated));
        return new Timings(warmup, measured, usage, allocated, Entries(job, workers, laps), answers);
    }

    private static Tally Sum(Part[] parts, Lap[] laps) =>
        Tally.Sum(parts.Zip(laps).Where(own => !own.First.IsWriter).Select(own => own.Second.Tally));

    private static long Elapsed(Lap[] laps) =>
        Clock.Nanoseconds(laps.Max(lap => lap.End) - laps.Min(lap => lap.Start));

    private static WorkerResult[] Entries(Job job, Workers workers, List<Lap[]> laps)
    {
        var measure = job.Measure;
        var asked = measure.Workers > 1 || measure.Latencies || measure.IsPaced || measure.Share is not null
            || job.Writer is not null;
        return asked ? [.. workers.Sessions.Select(Of)] : [];

        WorkerResult Of(Session session, int index)
        {
            Lap[] all = [.. laps.Select(lap => lap[index])];
            var own = all[^measure.Iterations..];
            var tally = Tally.Sum(all.Select(lap => lap.Tally));
            return new WorkerResult(
                workers.Parts[index].IsWriter ? "writer" : "worker",
                workers.Parts[index].Performed(all.Length),
                tally.Rows,
                tally.Checksum,
                [.. own.Select(lap => Clock.Nanoseconds(lap.End - lap.Start))],
                measure.Share is null ? [] : [.. own.Select(lap => (Microseconds(lap.StartUtc), Microseconds(lap.EndUtc)))],
                session.Latencies,
                session.Pacing,
                own.Sum(lap => lap.Busy));
        }
    }

    /// <summary>Microseconds of Unix time.</summary>
    private static double Microseconds(DateTime utc) => (utc - DateTime.UnixEpoch).Ticks / (double)TimeSpan.TicksPerMicrosecond;
}
