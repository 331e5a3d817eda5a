using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using Microsoft.Data.Sqlite;

namespace Plain;

/// <summary>The mix of a workload: queries one after the other, as a round has them.</summary>
internal sealed class Mix
{
    private readonly SqliteConnection connection;
    private readonly Query[] round;
    private readonly string[] undo;

    public Mix(SqliteConnection connection, JsonElement task)
    {
        this.connection = connection;
        var queries = task.GetProperty("queries").EnumerateArray().Select(query => new Query(connection, query)).ToArray();
        round = [.. task.GetProperty("round").EnumerateArray().Select(number => queries[number.GetInt32()])];
        undo = [.. task.GetProperty("undo").EnumerateArray().Select(sql => sql.GetString()!)];
    }

    /// <summary>Gets or sets the rows that were read or changed.</summary>
    public long Rows { get; set; }

    /// <summary>Gets or sets how many values were not NULL.</summary>
    public long Values { get; set; }

    /// <summary>Gets or sets what shows that all were looked at.</summary>
    public double Seen { get; set; }

    public void Work()
    {
        foreach (var query in round)
        {
            query.Execute(this);
        }
    }

    public void Undo()
    {
        foreach (var sql in undo)
        {
            using var command = connection.CreateCommand();
            command.CommandText = sql;
            command.ExecuteNonQuery();
        }
    }
}

/// <summary>Statements that a service does at once, in a transaction or in none.</summary>
internal sealed class Query(SqliteConnection connection, JsonElement query)
{
    private readonly string transaction = query.GetProperty("transaction").GetString()!;
    private readonly Statement[] statements =
        [.. query.GetProperty("statements").EnumerateArray().Select(each => new Statement(connection, each))];

    public void Execute(Mix mix)
    {
        if (transaction == "none")
        {
            foreach (var statement in statements)
            {
                statement.Execute(mix, null);
            }

            return;
        }

        using var begun = connection.BeginTransaction(deferred: transaction == "deferred");
        foreach (var statement in statements)
        {
            statement.Execute(mix, begun);
        }

        begun.Commit();
    }
}

internal sealed partial class Statement
{
    private readonly SqliteCommand command;
    private readonly SqliteParameter[] parameters;
    private readonly string operation;
    private readonly int repeat;
    private readonly object[][] rows;
    private readonly Column[] columns;
    private int place;

    public Statement(SqliteConnection connection, JsonElement asked)
    {
        operation = asked.GetProperty("operation").GetString()!;
        repeat = asked.GetProperty("repeat").GetInt32();
        rows = [.. asked.GetProperty("rows").EnumerateArray().Select(row => row.EnumerateArray().Select(Given).ToArray())];
        columns = [.. asked.GetProperty("columns").EnumerateObject().Select(column => new Column(column.Value.GetString()!))];
        command = connection.CreateCommand();
        var named = 0;
        command.CommandText = QuotedOrPlace().Replace(
            asked.GetProperty("sql").GetString()!, match => match.Value == "?" ? $"$p{named++}" : match.Value);
        parameters = [.. Enumerable.Range(0, named).Select(number => command.Parameters.AddWithValue($"$p{number}", 0))];
        command.Prepare();
    }

    public void Execute(Mix mix, SqliteTransaction? transaction)
    {
        command.Transaction = transaction;
        for (var i = 0; i < repeat; i++)
        {
            var row = rows[place];
            place = (place + 1) % rows.Length;
            for (var number = 0; number < row.Length; number++)
            {
                parameters[number].Value = row[number];
            }

            switch (operation)
            {
                case "run":
                    mix.Rows += command.ExecuteNonQuery();
                    break;
                case "all":
                    ReadAll(mix);
                    break;
                default:
                    ReadEach(mix, operation == "get");
                    break;
            }
        }
    }

    // A list of rows, which is complete before its values are used.
    private void ReadAll(Mix mix)
    {
        var list = new List<Cell>();
        using (var reader = command.ExecuteReader())
        {
            while (reader.Read())
            {
                mix.Rows++;
                for (var column = 0; column < columns.Length; column++)
                {
                    list.Add(columns[column].Read(reader, column));
                }
            }
        }

        foreach (var cell in list)
        {
            Use(mix, cell);
        }
    }

    private void ReadEach(Mix mix, bool first)
    {
        using var reader = command.ExecuteReader();
        while (reader.Read())
        {
            mix.Rows++;
            for (var column = 0; column < columns.Length; column++)
            {
                Use(mix, columns[column].Read(reader, column));
            }

            if (first)
            {
                return;
            }
        }
    }

    private static void Use(Mix mix, in Cell cell)
    {
        if (cell.Filled)
        {
            mix.Values++;
            mix.Seen += cell.Number + cell.Length;
        }
    }

    // What the driver has in place of a value in JSON.
    private static object Given(JsonElement value) => value.ValueKind switch
    {
        JsonValueKind.Null => DBNull.Value,
        JsonValueKind.String => value.GetString()!,
        JsonValueKind.Object when value.TryGetProperty("blob", out var hex) => Convert.FromHexString(hex.GetString()!),
        JsonValueKind.Object => long.Parse(value.GetProperty("wide").GetString()!, CultureInfo.InvariantCulture),
        _ => value.TryGetInt64(out var integer) ? integer : value.GetDouble(),
    };

    [GeneratedRegex("""'[^']*'|"[^"]*"|\?""")]
    private static partial Regex QuotedOrPlace();
}

/// <summary>How a column is read: by the getter of its type, which asks for NULL where there may be one.</summary>
internal sealed class Column(string type)
{
    private readonly bool nullable = type.EndsWith('?');
    private readonly char kind = type[0];

    public Cell Read(SqliteDataReader reader, int column) => nullable && reader.IsDBNull(column)
        ? default
        : kind switch
        {
            't' => new Cell(0, reader.GetString(column)),
            'b' => new Cell(0, reader.GetFieldValue<byte[]>(column)),
            'r' => new Cell(reader.GetDouble(column), Cell.None),
            _ => new Cell(reader.GetInt64(column), Cell.None),
        };
}

/// <summary>A value: a number, or a text or blob; NULL has neither.</summary>
internal readonly record struct Cell(double Number, object? Held)
{
    public static readonly object None = new();

    public bool Filled => Held is not null;

    public int Length => Held switch
    {
        string text => text.Length,
        byte[] blob => blob.Length,
        _ => 0,
    };
}
