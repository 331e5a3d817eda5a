using System.Globalization;
using System.Text.Json;

namespace Sqlitmus;

/// <summary>Reads a job; unknown, repeated and missing keys are errors, and so are values of the wrong type.</summary>
internal static class JobReader
{
    public const int ContractVersion = 1;

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
        node.Object("contract", "mode", "cell", "database", "connection", "steps", "transaction", "reset", "readback",
            "inspect", "measure", "output");
        var contract = node.Optional("contract");
        if (contract.Integer(0, absent: ContractVersion) != ContractVersion)
        {
            throw contract.Expected($"{ContractVersion}");
        }

        var database = node.Optional("database");
        var steps = node.Optional("steps").Items();
        if (steps.Count > 0 && !database.Exists)
        {
            throw new JobException($"{node.Path}: expected the missing key database, because there are steps", node.Path);
        }

        return new Job(
            (Mode)node.Required("mode").Word("verify", "measure"),
            node.Required("cell").Text(),
            database.Exists ? ReadDatabase(database) : null,
            ReadConnection(node.Optional("connection")),
            [.. steps.Select(ReadStep)],
            (TransactionKind)node.Optional("transaction").Word("none", "deferred", "immediate", "read"),
            [.. node.Optional("reset").Items().Select(sql => sql.Text())],
            [.. node.Optional("readback").Items().Select(ReadReadback)],
            node.Optional("inspect").Flag(absent: true),
            ReadMeasure(node.Required("measure")),
            node.Required("output").Text());
    }

    private static DatabaseSpec ReadDatabase(Node node)
    {
        node.Object("path", "mode", "uri");
        return new DatabaseSpec(
            node.Required("path").Text(),
            (OpenMode)node.Optional("mode").Word("readwrite", "readonly"),
            [.. node.Optional("uri").Members().Select(pair => KeyValuePair.Create(pair.Key, pair.Value.Text()))]);
    }

    private static ConnectionSpec ReadConnection(Node node)
    {
        if (!node.Exists)
        {
            return new ConnectionSpec([], [], []);
        }

        node.Object("pragmas", "engine", "worker_pragmas");
        return new ConnectionSpec(
            [.. node.Optional("pragmas").Items().Select(ReadPragma)],
            [.. node.Optional("engine").Members().Select(pair => pair.Key)],
            [.. node.Optional("worker_pragmas").Items().Select(ReadPragma)]);
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

    private static StepSpec ReadStep(Node node)
    {
        node.Object("operation", "sql", "parameters", "columns", "repeat", "shape", "integers", "statement");
        var step = new StepSpec(
            (Operation)node.Required("operation").Word("get", "all", "iterate", "run", "prepare", "open"),
            node.Required("sql").Text(),
            node.Optional("parameters") is { Exists: true } parameters ? Pool.Read(parameters) : Parameters.None,
            [.. node.Optional("columns").Items().Select(ReadColumn)],
            node.Optional("repeat").Integer(1, absent: 1),
            (Shape)node.Optional("shape").Word("object", "array", "typed"),
            (Integers)node.Optional("integers").Word("number", "bigint"),
            (StatementKind)node.Optional("statement").Word("prepared", "cached", "adhoc"));
        var returnsRows = step.Operation is not (Operation.Run or Operation.Prepare);
        if (returnsRows != step.Columns.Length > 0 && step.Operation != Operation.Prepare)
        {
            var expectation = returnsRows ? "expected the columns of the result" : "expected none, because `run` returns no rows";
            throw new JobException($"{node.Path}.columns: {expectation}", node.Path);
        }

        // `prepare` binds nothing.
        var placeholders = Placeholders.Name(step.Sql).Count;
        if (placeholders != step.Parameters.Types.Length && step.Operation != Operation.Prepare)
        {
            throw new JobException(
                $"{node.Path}.parameters: expected {placeholders} types for the ? in the SQL, got {step.Parameters.Types.Length}",
                node.Path);
        }

        return step;
    }

    private static ReadbackSpec ReadReadback(Node node)
    {
        node.Object("sql", "columns");
        return new ReadbackSpec(node.Required("sql").Text(), [.. node.Required("columns").Items().Select(ReadColumn)]);
    }

    private static Column ReadColumn(Node node)
    {
        node.Object("name", "type");
        return new Column(node.Required("name").Text(), Pool.ReadType(node.Required("type")));
    }

    private static Measure ReadMeasure(Node node)
    {
        node.Object("operations_per_iteration", "warmup_iterations", "warmup_ns", "iterations", "workers", "rate");
        return new Measure(
            node.Required("operations_per_iteration").Integer(0),
            node.Optional("warmup_iterations").Integer(0, absent: 0),
            node.Optional("warmup_ns").Integer(0, absent: 0),
            Count(node.Optional("iterations")),
            Count(node.Optional("workers")),
            node.Optional("rate") is { Exists: true } rate ? rate.Number() : null);

        static int Count(Node count) =>
            count.Integer(1, absent: 1) is var value and <= int.MaxValue ? (int)value : throw count.Expected("an integer of 32 bits");
    }
}
