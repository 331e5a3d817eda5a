using System.Globalization;
using System.Text.Json;

namespace Sqlitmus;

/// <summary>Reads a pool of parameters into boxed values, so that no execution has to make one.</summary>
internal static class Pool
{
    private const int MostRows = 16_384;

    /// <exception cref="JobException">The pool has no power of two of rows, or a value does not fit its type.</exception>
    public static Parameters Read(Node node)
    {
        node.Object("types", "rows");
        ColumnType[] types = [.. node.Required("types").Items().Select(ReadType)];
        var rows = node.Required("rows");
        if (rows.Element.ValueKind != JsonValueKind.Array)
        {
            throw rows.Expected("an array of rows");
        }

        var length = rows.Element.GetArrayLength();
        if (length is < 1 or > MostRows || (length & (length - 1)) != 0)
        {
            throw new JobException($"{rows.Path}: expected a power of two of rows, at most {MostRows}, got {length}", rows.Path);
        }

        // Plain elements, not nodes: tens of thousands of paths would be made for nothing.
        var values = new object[length][];
        var number = 0;
        foreach (var row in rows.Element.EnumerateArray())
        {
            values[number] = ReadRow(row, types, rows.Path, number);
            number++;
        }

        return new Parameters(types, values);
    }

    public static ColumnType ReadType(Node node) => (ColumnType)node.Word("integer", "real", "text", "blob");

    private static object[] ReadRow(JsonElement row, ColumnType[] types, string path, int number)
    {
        if (row.ValueKind != JsonValueKind.Array || row.GetArrayLength() != types.Length)
        {
            throw new Node(row, $"{path}[{number}]").Expected($"an array of {types.Length} values");
        }

        var values = new object[types.Length];
        for (var index = 0; index < values.Length; index++)
        {
            values[index] = ReadValue(row[index], types[index])
                ?? throw new Node(row[index], $"{path}[{number}][{index}]").Expected($"{Expectation(types[index])} or null");
        }

        return values;
    }

    private static object? ReadValue(JsonElement value, ColumnType type) => (value.ValueKind, type) switch
    {
        (JsonValueKind.Null, _) => DBNull.Value,
        (JsonValueKind.Number, ColumnType.Integer) => value.TryGetInt64(out var number) ? number : null,
        (JsonValueKind.String, ColumnType.Integer) =>
            long.TryParse(value.GetString(), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number)
                ? number : null,
        (JsonValueKind.Number, ColumnType.Real) => value.GetDouble(),
        (JsonValueKind.String, ColumnType.Text) => value.GetString(),
        (JsonValueKind.String, ColumnType.Blob) => FromHexadecimal(value.GetString()!),
        _ => null,
    };

    private static byte[]? FromHexadecimal(string text)
    {
        try
        {
            return Convert.FromHexString(text);
        }
        catch (FormatException)
        {
            return null;
        }
    }

    private static string Expectation(ColumnType type) => type switch
    {
        ColumnType.Integer => "an integer of 64 bits",
        ColumnType.Real => "a number",
        ColumnType.Text => "a string",
        _ => "hexadecimal digits",
    };
}
