using System.Globalization;
using System.Text.Json;

namespace Sqlitmus;

/// <summary>Reads a job; unknown, repeated and missing keys are errors, and so are values of the wrong type.</summary>
internal static class JobReader
{
    public const int ContractVersion = 2;

    private static readonly JsonDocumentOptions Strict = new() { AllowDuplicateProperties = false };

    /// <exception cref="JobException">The file cannot be read or is not a valid job; the message names the file.</exception>
    public static Job ReadFile(string path)
    {
        byte[] text;
        try
        {
            text = File.ReadAllBytes(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new JobException($"{path}: {e.Message}", null);
        }

        return Read(text, path);
    }

    /// <exception cref="JobException">Not a valid job; the message has name, line, JSON path and expectation.</exception>
    public static Job Read(byte[] text, string name)
    {
        try
        {
            using var document = JsonDocument.Parse(text, Strict);
            return ReadJob(new Node(document.RootElement, "$"));
        }
        catch (JsonException e)
        {
            throw new JobException($"{name}:{(e.LineNumber ?? 0) + 1}: expected JSON: {e.Message}", null);
        }
        catch (JobException e)
        {
            throw new JobException($"{name}:{JsonLines.Of(text, e.Path!)}: {e.Message}", e.Path);
        }
    }

    private static Job ReadJob(Node node)
    {
        node.Object("contract", "mode", "cell", "database", "connection", "steps", "transaction", "writer", "reset",
            "reset_every", "readback", "inspect", "measure", "output");
        var contract = node.Optional("contract");
        if (contract.Integer(0, absent: ContractVersion) != ContractVersion)
        {
            throw contract.Expected($"{ContractVersion}");
        }

        var database = node.Optional("database");
        StepSpec[] steps = [.. node.Optional("steps").Items().Select(StepReader.Read)];
        var writer = node.Optional("writer");
        if ((steps.Length > 0 || writer.Exists) && !database.Exists)
        {
            throw new JobException($"{node.Path}: expected the missing key database, because there are steps", node.Path);
        }

        var mode = (Mode)node.Required("mode").Word("verify", "measure");
        var measure = ReadMeasure(node.Required("measure"), steps.Length, mode);
        string[] reset = [.. node.Optional("reset").Items().Select(sql => sql.Text())];
        return new Job(
            mode,
            node.Required("cell").Text(),
            database.Exists ? ReadDatabase(database) : null,
            ReadConnection(node.Optional("connection")),
            steps,
            ReadTransaction(node.Optional("transaction"), steps, "none", "deferred", "immediate", "read"),
            writer.Exists ? ReadWriter(writer) : null,
            reset,
            ReadResetEvery(node.Optional("reset_every"), reset, mode, measure.OperationsPerIteration),
            [.. node.Optional("readback").Items().Select(StepReader.ReadReadback)],
            node.Optional("inspect").Flag(absent: true),
            measure,
            node.Required("output").Text());
    }

    /// <summary>An iteration begins wherever a reset is due; any number does where there is none.</summary>
    private static long ReadResetEvery(Node node, string[] reset, Mode mode, long operationsPerIteration)
    {
        if (!node.Exists)
        {
            return reset.Length == 0
                ? 1
                : throw new JobException($"{node.Path}: expected after how many operations reset is due", node.Path);
        }

        var every = node.Integer(1);
        return mode == Mode.Verify || (operationsPerIteration > 0 && every % operationsPerIteration == 0)
            ? every
            : throw node.Expected($"whole iterations of {operationsPerIteration} operations");
    }

    private static DatabaseSpec ReadDatabase(Node node)
    {
        node.Object("path", "mode", "uri", "flags");
        return new DatabaseSpec(
            node.Required("path").Text(),
            (OpenMode)node.Optional("mode").Word("readwrite", "readonly"),
            [.. node.Optional("uri").Members().Select(pair => KeyValuePair.Create(pair.Key, pair.Value.Text()))],
            [.. node.Optional("flags").Items().Select(
                flag => (OpenFlag)flag.Word("no-mutex", "full-mutex", "private-cache", "shared-cache"))]);
    }

    private static ConnectionSpec ReadConnection(Node node)
    {
        if (!node.Exists)
        {
            return new ConnectionSpec([], [], [], false);
        }

        node.Object("pragmas", "engine", "setup", "per_operation");
        return new ConnectionSpec(
            [.. node.Optional("pragmas").Items().Select(ReadPragma)],
            [.. node.Optional("engine").Members().Select(pair => pair.Key)],
            [.. node.Optional("setup").Items().Select(sql => sql.Text())],
            node.Optional("per_operation").Flag(absent: false));
    }

    private static Pragma ReadPragma(Node node)
    {
        if (node.Items() is [{ Element.ValueKind: JsonValueKind.String } name, var value])
        {
            if (value.Element.ValueKind == JsonValueKind.String)
            {
                return new Pragma(name.Text(), $"'{value.Text().Replace("'", "''", StringComparison.Ordinal)}'");
            }

            if (value.Element.ValueKind == JsonValueKind.Number && value.Element.TryGetInt64(out var number))
            {
                return new Pragma(name.Text(), number.ToString(CultureInfo.InvariantCulture));
            }
        }

        throw node.Expected("a pair [pragma name, string or integer]");
    }

    private static WriterSpec ReadWriter(Node node)
    {
        node.Object("steps", "transaction", "operations", "rate");
        var items = node.Required("steps");
        StepSpec[] steps = [.. items.Items().Select(StepReader.Read)];
        return new WriterSpec(
            steps.Length > 0 ? steps : throw items.Expected("one step or more"),
            ReadTransaction(node.Optional("transaction"), steps, "none", "deferred", "immediate"),
            node.Required("operations").Integer(1),
            ReadRate(node.Optional("rate")));
    }

    private static TransactionKind ReadTransaction(Node node, StepSpec[] steps, params ReadOnlySpan<string> words)
    {
        var transaction = (TransactionKind)node.Word(words);
        var executes = steps.Any(step => step.Operation == Operation.Execute);
        return executes && transaction != TransactionKind.None
            ? throw node.Expected("none, because a step is execute, which can begin one itself")
            : transaction;
    }

    private static Measure ReadMeasure(Node node, int steps, Mode mode)
    {
        node.Object("operations_per_iteration", "warmup_iterations", "warmup_ns", "iterations", "workers", "thread",
            "rate", "latencies", "tolerate_busy", "share", "digest", "event_loop", "sequence");
        var workers = node.Optional("workers").Count(absent: 1);
        var sequence = node.Optional("sequence");
        var measure = new Measure(
            node.Required("operations_per_iteration").Integer(0),
            node.Optional("warmup_iterations").Integer(0, absent: 0),
            node.Optional("warmup_ns").Integer(0, absent: 0),
            node.Optional("iterations").Count(absent: 1),
            workers,
            node.Optional("thread").Word("main", "worker") == 1,
            ReadRate(node.Optional("rate")),
            node.Optional("latencies").Flag(absent: false),
            node.Optional("tolerate_busy").Flag(absent: false),
            node.Optional("share") is { Exists: true } share ? ReadShare(share, workers) : null,
            node.Optional("digest").Integer(0, absent: 0),
            node.Optional("event_loop").Exists,
            sequence.Exists ? ReadSequence(sequence) : null);
        return sequence.Exists ? CheckSequence(sequence, measure, steps, mode) : measure;
    }

    private static Sequence ReadSequence(Node node)
    {
        node.Object("groups", "order", "workers", "planned_us");
        return new Sequence(
            [.. node.Required("groups").Items().Select(size => size.Count())],
            [.. node.Required("order").Items().Select(group => (int)group.Integer(0))],
            [.. node.Optional("workers").Items().Select(worker => (int)worker.Integer(0))],
            [.. node.Optional("planned_us").Items().Select(time => time.Integer(0))]);
    }

    private static Measure CheckSequence(Node node, Measure measure, int steps, Mode mode)
    {
        var (groups, order, workers, times) = measure.Sequence!;
        if (groups.Sum() != steps)
        {
            throw node.Optional("groups").Expected($"{steps} steps together");
        }

        if (order.Length == 0 || order.Max() >= groups.Length)
        {
            throw node.Optional("order").Expected($"numbers of groups, below {groups.Length}");
        }

        var whole = measure.Place.Of == measure.Workers;
        if (workers.Length > 0 && (workers.Length != order.Length || workers.Max() >= measure.Workers || !whole))
        {
            throw node.Optional("workers").Expected($"{order.Length} numbers below {measure.Workers}, in one process");
        }

        var each = measure.OperationsPerIteration;
        whole = mode == Mode.Verify || (each > 0 && order.Length % each == 0);
        return times.Length > 0 && (times.Length != order.Length || measure.Rate is not null || !whole)
            ? throw node.Optional("planned_us").Expected($"{order.Length} times of whole iterations, and no rate")
            : measure;
    }

    private static Share ReadShare(Node node, int workers)
    {
        node.Object("first", "of");
        var first = node.Optional("first").Integer(0, absent: 0);
        var of = node.Optional("of").Count(absent: 1);
        return first + workers <= of
            ? new Share((int)first, of)
            : throw node.Expected($"a share that has room for {workers} workers");
    }

    private static double? ReadRate(Node node)
    {
        if (!node.Exists)
        {
            return null;
        }

        return node.Number() is > 0 and var rate ? rate : throw node.Expected("a number above 0");
    }
}
