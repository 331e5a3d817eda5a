namespace Sqlitmus;

// The job as the harness writes it; the words are explained in runners/contract/CONTRACT.md.

internal enum Mode { Verify, Measure }
internal enum ColumnType { Integer, Real, Text, Blob }
internal enum Operation { Get, All, Iterate, Run, Prepare, Open, OpenFile, InTransaction, Execute, ReadFile }
internal enum Shape { Object, Array, Typed }
internal enum Integers { Number, Bigint }
internal enum StatementKind { Prepared, Cached, Adhoc }
internal enum Values { Read, Unread }
internal enum TransactionKind { None, Deferred, Immediate, Read }
internal enum OpenMode { Readwrite, Readonly }
internal enum OpenFlag { NoMutex, FullMutex, PrivateCache, SharedCache }

internal sealed record Column(string Name, ColumnType Type, bool Nullable);

/// <param name="Rows">Values as SqliteParameter takes them: long, double, string, byte[] or DBNull.</param>
internal sealed record Parameters(ColumnType[] Types, object[][] Rows)
{
    public static Parameters None { get; } = new([], [[]]);
}

/// <param name="Names">By what the parameters are bound, each with its prefix; empty where the SQL has <c>?</c>.</param>
/// <param name="Fails">The primary result code with which every execution must fail; null where it must succeed.</param>
internal sealed record StepSpec(
    Operation Operation,
    string Sql,
    Parameters Parameters,
    string[] Names,
    Column[] Columns,
    long Repeat,
    int? Fails,
    Shape Shape,
    Integers Integers,
    StatementKind Statement,
    Values Values)
{
    /// <summary>The SQL as the driver takes it.</summary>
    public NamedSql Named => Names.Length > 0 ? new NamedSql(Sql, Names) : Placeholders.Name(Sql);
}

internal sealed record ReadbackSpec(string Sql, Column[] Columns);

/// <param name="Path">A file, or <c>:memory:</c>.</param>
internal sealed record DatabaseSpec(string Path, OpenMode Mode, KeyValuePair<string, string>[] Uri, OpenFlag[] Flags)
{
    public bool InMemory => Path == ":memory:";
}

/// <summary>A pragma and its value as an SQL literal.</summary>
internal sealed record Pragma(string Name, string Literal)
{
    public string Sql => $"PRAGMA {Name} = {Literal}";
}

/// <param name="Engine">The names of the options; this runner has none, so it needs no values.</param>
/// <param name="Setup">SQL after the pragmas.</param>
/// <param name="PerOperation">Each operation takes a connection from the driver's pool.</param>
internal sealed record ConnectionSpec(
    Pragma[] Pragmas, string[] Engine, string[] Setup, bool PerOperation);

/// <summary>
/// This process's workers are <paramref name="First"/> and those after it among <paramref name="Of"/>; it waits before each
/// iteration until it is released.
/// </summary>
internal sealed record Share(int First, int Of);

/// <summary>Operation i performs the group of steps <c>Order[i mod length]</c>.</summary>
/// <param name="Groups">How many steps each has.</param>
/// <param name="Workers">Who performs each operation; empty where the workers divide them.</param>
/// <param name="PlannedUs">When each is planned; empty where each follows the last.</param>
internal sealed record Sequence(int[] Groups, int[] Order, int[] Workers, long[] PlannedUs);

/// <param name="Rate">Operations per second and worker at planned times; null where each follows the last.</param>
/// <param name="Digest">How many operations, from the first, are done once more afterwards, in the manner of verify mode.</param>
internal sealed record Measure(
    long OperationsPerIteration,
    long WarmupIterations,
    long WarmupNs,
    int Iterations,
    int Workers,
    bool ThreadOfItsOwn,
    double? Rate,
    bool Latencies,
    bool TolerateBusy,
    Share? Share,
    long Digest,
    bool EventLoop,
    Sequence? Sequence)
{
    /// <summary>Whether operations have planned times.</summary>
    public bool IsPaced => Rate is not null || Sequence?.PlannedUs.Length > 0;

    /// <summary>Where this process's workers stand among those of all processes.</summary>
    public Share Place => Share ?? new Share(0, Workers);
}

internal sealed record WriterSpec(StepSpec[] Steps, TransactionKind Transaction, long Operations, double? Rate);

/// <param name="ResetEvery">Reset is due before each operation whose number is a multiple of this.</param>
internal sealed record Job(
    Mode Mode,
    string Cell,
    DatabaseSpec? Database,
    ConnectionSpec Connection,
    StepSpec[] Steps,
    TransactionKind Transaction,
    WriterSpec? Writer,
    string[] Reset,
    long ResetEvery,
    ReadbackSpec[] Readback,
    bool Inspect,
    Measure Measure,
    string Output)
{
    /// <summary>The SQL that is due before an operation, off the clock.</summary>
    public string[] ResetBefore(long operation) => operation % ResetEvery == 0 ? Reset : [];
}
