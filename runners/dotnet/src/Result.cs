namespace Sqlitmus;

// The result as the harness reads it; counts and checksum are those of all iterations.

internal sealed record Versioned(string Name, string Version);

internal sealed record Identity(string Runner, Versioned Runtime, Versioned Driver, string Architecture, string[] Flags);

internal sealed record Description(
    string SqliteVersion,
    string SourceId,
    IReadOnlyList<string> CompileOptions,
    int Threadsafe,
    (string Name, string[] Words)[] Features);

internal sealed record Failure(string Message, int? SqliteCode, string? Sql);

internal sealed record Proof(long Rows, uint Checksum);

/// <summary>Nanoseconds; the time from process start to Main is not known to better than 10 ms.</summary>
internal sealed record Phases(long? Open, long? Prepare, long? Close);

/// <summary>Context switches of all threads.</summary>
internal sealed record Switches(long Voluntary, long Involuntary);

/// <summary>Page faults of all threads: served from memory, and waiting for a disk.</summary>
internal sealed record PageFaults(long Minor, long Major);

/// <param name="IterationsNs">Of the measured iterations; the counts are those of all.</param>
/// <param name="SpansUs">Start and end of each measured iteration in microseconds of Unix time.</param>
internal sealed record WorkerResult(
    string Role,
    long Operations,
    long Rows,
    uint Checksum,
    long[] IterationsNs,
    (double Start, double End)[] SpansUs,
    Histogram? Latencies,
    Histogram? Pacing,
    long Busy);

internal sealed record Result
{
    public required string Cell { get; init; }
    public required string Status { get; init; }
    public string? Reason { get; init; }
    public Failure? Error { get; init; }
    public string? SqliteVersion { get; init; }
    public KeyValuePair<string, object?>[] Pragmas { get; init; } = [];
    public IReadOnlyList<string>[] Plans { get; init; } = [];
    public long Operations { get; init; }
    public long Rows => Sum.Rows;
    public long Affected => Sum.Affected;
    public uint Checksum => Sum.Checksum;
    public Proof? Readback { get; init; }
    public string? Digest { get; init; }
    public IReadOnlyList<long> WarmupNs { get; init; } = [];
    public IReadOnlyList<long> IterationsNs { get; init; } = [];
    public Phases PhasesNs { get; init; } = new(null, null, null);
    public long? CpuNs { get; init; }
    public long? PeakRssBytes { get; init; }
    public WorkerResult[] Workers { get; init; } = [];
    public Switches? Switches { get; init; }
    public PageFaults? PageFaults { get; init; }
    public long? AllocatedBytes { get; init; }
    public long? Collections { get; init; }

    /// <summary>What each iteration, warm-up first, or each operation in verify mode returned.</summary>
    public IReadOnlyList<Tally> Answers { get; init; } = [];

    private Tally Sum => Tally.Sum(Answers);
}
