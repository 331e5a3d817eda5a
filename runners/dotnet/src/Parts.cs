namespace Sqlitmus;

/// <summary>
/// What one thread does: operations <c>Begin</c> … <c>End − 1</c> of its steps in the first iteration, and in each next one
/// those that are <c>Stride</c> further on.
/// </summary>
/// <param name="IsWriter">The writer beside the workers, whose figures are its own.</param>
/// <param name="Order">Null where each operation performs all steps.</param>
/// <param name="Offset">Where the planned times of an open loop begin, as a part of the time between two operations.</param>
internal sealed record Part(
    bool IsWriter,
    StepSpec[] Steps,
    TransactionKind Transaction,
    long Begin,
    long End,
    long Stride,
    double? Rate,
    double Offset,
    Order? Order = null)
{
    /// <returns>How many operations it performs in so many iterations.</returns>
    public long Performed(int iterations) => Order is null
        ? (End - Begin) * iterations
        : Enumerable.Range(0, iterations).Sum(done => Order.Count((done * Stride) + Begin, (done * Stride) + End));
}

/// <summary>How the operations of an iteration are divided.</summary>
internal static class Parts
{
    /// <returns>The parts of this process's workers, then the writer's, if there is one.</returns>
    public static Part[] Of(Job job)
    {
        var workers = Enumerable.Range(0, job.Measure.Workers).Select(worker => OfWorker(job, worker));
        return job.Writer is { } writer ? [.. workers, OfWriter(writer)] : [.. workers];
    }

    /// <returns>Operation numbers begin … end − 1 of worker <paramref name="worker"/>: ⌊N·w/k⌋ … ⌊N·(w+1)/k⌋ − 1.</returns>
    public static (long Begin, long End) Cut(long operations, int worker, int workers) =>
        (operations * worker / workers, operations * (worker + 1) / workers);

    /// <returns>The operations of all workers of this process in the first iteration.</returns>
    public static (long Begin, long End) OfProcess(Measure measure)
    {
        var (first, of) = measure.Place;
        var operations = measure.OperationsPerIteration;
        return (Cut(operations, first, of).Begin, Cut(operations, first + measure.Workers - 1, of).End);
    }

    private static Part OfWriter(WriterSpec writer) =>
        new(true, writer.Steps, writer.Transaction, 0, writer.Operations, writer.Operations, writer.Rate, 0);

    private static Part OfWorker(Job job, int worker)
    {
        var (first, of) = job.Measure.Place;
        var operations = job.Measure.OperationsPerIteration;
        var sequence = job.Measure.Sequence;
        var named = sequence?.Workers.Length > 0;
        var (begin, end) = named ? (0, operations) : Cut(operations, first + worker, of);
        return new Part(
            false, job.Steps, job.Transaction, begin, end, operations, job.Measure.Rate,
            (double)(first + worker) / of,
            sequence is null ? null : new Order(sequence, job.Mode == Mode.Verify ? null : worker));
    }
}
