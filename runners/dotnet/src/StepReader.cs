namespace Sqlitmus;

/// <summary>Reads steps and read-back queries of a job.</summary>
internal static class StepReader
{
    /// <exception cref="JobException">Not a valid step.</exception>
    public static StepSpec Read(Node node)
    {
        node.Object("operation", "sql", "parameters", "names", "columns", "repeat", "fails", "shape", "integers", "statement", "texts", "values");
        var operation = (Operation)node.Required("operation").Word(
            "get", "all", "iterate", "run", "prepare", "open", "open-file", "in-transaction", "execute", "read-file");
        var step = new StepSpec(
            operation,
            ReadSql(node, operation),
            node.Optional("parameters") is { Exists: true } parameters ? ReadParameters(parameters, operation) : Parameters.None,
            ReadNames(node, operation),
            [.. node.Optional("columns").Items().Select(ReadColumn)],
            node.Optional("repeat").Integer(1, absent: 1),
            node.Optional("fails") is { Exists: true } fails ? ReadFails(fails, operation) : null,
            (Shape)node.Optional("shape").Word("object", "array", "typed"),
            (Integers)node.Optional("integers").Word("number", "bigint"),
            ReadStatement(node),
            (Values)node.Optional("values").Word("read", "unread"));
        CheckColumns(step, node.Path);
        CheckParameters(step, node.Path);
        return step;
    }

    /// <exception cref="JobException">Not a valid query.</exception>
    public static ReadbackSpec ReadReadback(Node node)
    {
        node.Object("sql", "columns");
        return new ReadbackSpec(node.Required("sql").Text(), [.. node.Required("columns").Items().Select(ReadColumn)]);
    }

    private static string ReadSql(Node node, Operation operation)
    {
        var needed = operation is not (Operation.InTransaction or Operation.ReadFile);
        var sql = needed ? node.Required("sql") : node.Optional("sql");
        var text = sql.Exists ? sql.Text() : "";
        return needed == text.Length > 0
            ? text
            : throw sql.Expected(needed ? "a statement" : "none, because in-transaction and read-file have none");
    }

    private static Parameters ReadParameters(Node parameters, Operation operation) =>
        operation == Operation.Execute
            ? throw new JobException($"{parameters.Path}: expected none, because execute binds nothing", parameters.Path)
            : Pool.Read(parameters);

    private static string[] ReadNames(Node node, Operation operation)
    {
        var names = node.Optional("names");
        string[] read = [.. names.Items().Select(ReadName)];
        return read.Length == 0 || operation is Operation.Get or Operation.All or Operation.Iterate or Operation.Run or Operation.Open
            ? read
            : throw names.Expected("none, because this operation binds no values by name");
    }

    private static string ReadName(Node name)
    {
        var text = name.Text();
        var plain = text.Length > 1 && text[0] is ':' or '@' or '$' && char.IsAsciiLetter(text[1])
            && text.Skip(1).All(letter => char.IsAsciiLetterOrDigit(letter) || letter == '_');
        return plain ? text : throw name.Expected("letters, digits and _ after one of :, @ and $");
    }

    /// <summary>Several texts are only looked at: they are of cached statements, which this driver does not have.</summary>
    private static StatementKind ReadStatement(Node node)
    {
        var statement = (StatementKind)node.Optional("statement").Word("prepared", "cached", "adhoc");
        var texts = node.Optional("texts");
        var count = texts.Integer(1, absent: 1);
        return !long.IsPow2(count)
            ? throw texts.Expected("a power of two")
            : count > 1 && statement != StatementKind.Cached
                ? throw texts.Expected("1 where the statement is not cached")
                : statement;
    }

    private static int ReadFails(Node fails, Operation operation) =>
        operation == Operation.Run
            ? fails.Count()
            : throw new JobException($"{fails.Path}: expected none, because only run can be expected to fail", fails.Path);

    private static Column ReadColumn(Node node)
    {
        node.Object("name", "type", "nullable");
        return new Column(
            node.Required("name").Text(),
            Pool.ReadType(node.Required("type")),
            node.Optional("nullable").Flag(absent: false));
    }

    private static void CheckColumns(StepSpec step, string path)
    {
        if (step.Operation == Operation.ReadFile && step.Columns is not [{ Type: ColumnType.Blob, Nullable: false }])
        {
            throw new JobException($"{path}.columns: expected one blob that cannot be NULL, the file", path);
        }

        var returnsRows = step.Operation is Operation.Get or Operation.All or Operation.Iterate
            or Operation.Open or Operation.OpenFile or Operation.ReadFile;
        if (returnsRows != step.Columns.Length > 0 && step.Operation != Operation.Prepare)
        {
            var expectation = returnsRows ? "expected the columns of the result" : "expected none, because it returns no rows";
            throw new JobException($"{path}.columns: {expectation}", path);
        }
    }

    private static void CheckParameters(StepSpec step, string path)
    {
        if (step.Operation is Operation.OpenFile or Operation.ReadFile)
        {
            if (step.Parameters.Types is not [ColumnType.Text])
            {
                throw new JobException($"{path}.parameters: expected one text, the path of the file", path);
            }

            return;
        }

        var width = step.Parameters.Types.Length;
        if (step.Names.Length > 0)
        {
            if (step.Names.Length != width || step.Names.DistinctBy(name => name[1..]).Count() != width)
            {
                throw new JobException($"{path}.names: expected {width}, which differ without their prefix", path);
            }

            return;
        }

        // `prepare` binds nothing.
        var placeholders = step.Named.Names.Length;
        if (placeholders != width && step.Operation != Operation.Prepare)
        {
            throw new JobException(
                $"{path}.parameters: expected {placeholders} types for the ? in the SQL, got {width}",
                path);
        }
    }
}
