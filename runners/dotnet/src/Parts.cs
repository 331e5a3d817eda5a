namespace Sqlitmus;

/// <summary>What one thread does in each iteration: operations <c>Begin</c> … <c>End − 1</c> of its steps.</summary>
/// <param name="IsWriter">The writer beside the workers, whose figures are its own.</param>
/// <param name="HasWorkerPragmas">Whether its connection has the pragmas of one worker among several.</param>
/// <param name="Offset">Where the planned times of an open loop begin, as a part of the time between two operations.</param>
internal sealed record Part(
    bool IsWriter,
    bool HasWorkerPragmas,
    StepSpec[] Steps,
    TransactionKind Transaction,
    long Begin,
    long End,
    double? Rate,
    double Offset)
{
    public long Operations => End - Begin;
}

/// <summary>How the operations of an iteration are divided.</summary>
internal static class Parts
{
    /// <returns>The parts of this process's workers, then the writer's, if there is one.</returns>
    public static Part[] Of(Job job)
    {
        var workers = Enumerable.Range(0, job.Measure.Workers).Select(worker => OfWorker(job, worker));
        return job.Writer is { } writer
            ? [.. workers, new Part(true, false, writer.Steps, writer.Transaction, 0, writer.Operations, writer.Rate, 0)]
            : [.. workers];
    }

    /// <returns>Operation numbers begin … end − 1 of worker <paramref name="worker"/>: ⌊N·w/k⌋ … ⌊N·(w+1)/k⌋ − 1.</returns>
    public static (long Begin, long End) Cut(long operations, int worker, int workers) =>
        (operations * worker / workers, operations * (worker + 1) / workers);

    private static Part OfWorker(Job job, int worker)
    {
        var (first, of) = job.Measure.Share;
        var (begin, end) = Cut(job.Measure.OperationsPerIteration, first + worker, of);
        var hasPragmas = job.Mode == Mode.Measure && job.Measure.Workers > 1;
        return new Part(
            false, hasPragmas, job.Steps, job.Transaction, begin, end, job.Measure.Rate, (double)(first + worker) / of);
    }
}
