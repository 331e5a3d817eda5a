namespace Sqlitmus;

// The job as the harness writes it; the words are explained in runners/contract/CONTRACT.md.

internal enum Mode { Verify, Measure }
internal enum ColumnType { Integer, Real, Text, Blob }
internal enum Operation { Get, All, Iterate, Run, Prepare, Open }
internal enum Shape { Object, Array, Typed }
internal enum Integers { Number, Bigint }
internal enum StatementKind { Prepared, Cached, Adhoc }
internal enum TransactionKind { None, Deferred, Immediate, Read }
internal enum OpenMode { Readwrite, Readonly }

internal sealed record Column(string Name, ColumnType Type);

/// <param name="Rows">Values as SqliteParameter takes them: long, double, string, byte[] or DBNull.</param>
internal sealed record Parameters(ColumnType[] Types, object[][] Rows)
{
    public static Parameters None { get; } = new([], [[]]);
}

internal sealed record StepSpec(
    Operation Operation,
    string Sql,
    Parameters Parameters,
    Column[] Columns,
    long Repeat,
    Shape Shape,
    Integers Integers,
    StatementKind Statement);

internal sealed record ReadbackSpec(string Sql, Column[] Columns);

internal sealed record DatabaseSpec(string Path, OpenMode Mode, KeyValuePair<string, string>[] Uri);

/// <summary>A pragma and its value as an SQL literal.</summary>
internal sealed record Pragma(string Name, string Literal)
{
    public string Sql => $"PRAGMA {Name} = {Literal}";
}

/// <param name="Engine">The names of the options; this runner has none, so it needs no values.</param>
internal sealed record ConnectionSpec(Pragma[] Pragmas, string[] Engine, Pragma[] WorkerPragmas);

internal sealed record Measure(
    long OperationsPerIteration, long WarmupIterations, long WarmupNs, int Iterations, int Workers, double? Rate);

internal sealed record Job(
    Mode Mode,
    string Cell,
    DatabaseSpec? Database,
    ConnectionSpec Connection,
    StepSpec[] Steps,
    TransactionKind Transaction,
    string[] Reset,
    ReadbackSpec[] Readback,
    bool Inspect,
    Measure Measure,
    string Output);
