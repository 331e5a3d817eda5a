using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>
/// One or more columns of a row as a value type. A row type is built of these for each job, and as the JIT compiles
/// generic code once per value type, it becomes the straight code that one would write for those columns.
/// </summary>
internal interface IFields
{
    /// <summary>The number of columns.</summary>
    static abstract int Width { get; }

    /// <summary>Reads the columns from <paramref name="ordinal"/> on with typed getters.</summary>
    void Read(SqliteDataReader reader, int ordinal);

    /// <summary>Takes the columns from <paramref name="ordinal"/> on out of what GetValues returned.</summary>
    void Take(object[] values, int ordinal);

    /// <returns>The checksum after <paramref name="h"/> and these columns.</returns>
    uint Fold(uint h);

    void Write(Digest digest);
}

internal struct IntegerField : IFields
{
    private long? _value;

    public static int Width => 1;

    public void Read(SqliteDataReader reader, int ordinal) =>
        _value = reader.IsDBNull(ordinal) ? null : reader.GetInt64(ordinal);

    public void Take(object[] values, int ordinal) =>
        _value = values[ordinal] is DBNull ? null : (long)values[ordinal];

    public readonly uint Fold(uint h) => h * 31 + (_value is { } value ? Checksum.Of(value) : Checksum.Null);

    public readonly void Write(Digest digest)
    {
        if (_value is { } value)
        {
            digest.Integer(value);
        }
        else
        {
            digest.Null();
        }
    }
}

internal struct RealField : IFields
{
    private double? _value;

    public static int Width => 1;

    public void Read(SqliteDataReader reader, int ordinal) =>
        _value = reader.IsDBNull(ordinal) ? null : reader.GetDouble(ordinal);

    public void Take(object[] values, int ordinal) =>
        _value = values[ordinal] is DBNull ? null : (double)values[ordinal];

    public readonly uint Fold(uint h) => h * 31 + (_value is { } value ? Checksum.Of(value) : Checksum.Null);

    public readonly void Write(Digest digest)
    {
        if (_value is { } value)
        {
            digest.Real(value);
        }
        else
        {
            digest.Null();
        }
    }
}

internal struct TextField : IFields
{
    private string? _value;

    public static int Width => 1;

    public void Read(SqliteDataReader reader, int ordinal) =>
        _value = reader.IsDBNull(ordinal) ? null : reader.GetString(ordinal);

    public void Take(object[] values, int ordinal) =>
        _value = values[ordinal] is DBNull ? null : (string)values[ordinal];

    public readonly uint Fold(uint h) => h * 31 + (_value is { } value ? Checksum.Of(value) : Checksum.Null);

    public readonly void Write(Digest digest)
    {
        if (_value is { } value)
        {
            digest.Text(value);
        }
        else
        {
            digest.Null();
        }
    }
}

internal struct BlobField : IFields
{
    private byte[]? _value;

    public static int Width => 1;

    public void Read(SqliteDataReader reader, int ordinal) =>
        _value = reader.IsDBNull(ordinal) ? null : reader.GetFieldValue<byte[]>(ordinal);

    public void Take(object[] values, int ordinal) =>
        _value = values[ordinal] is DBNull ? null : (byte[])values[ordinal];

    public readonly uint Fold(uint h) => h * 31 + (_value is { } value ? Checksum.Of(value) : Checksum.Null);

    public readonly void Write(Digest digest)
    {
        if (_value is { } value)
        {
            digest.Blob(value);
        }
        else
        {
            digest.Null();
        }
    }
}

/// <summary>Two groups of columns side by side; pairs of pairs make a row of any width.</summary>
internal struct Pair<TLeft, TRight> : IFields
    where TLeft : struct, IFields
    where TRight : struct, IFields
{
    private TLeft _left;
    private TRight _right;

    public static int Width => TLeft.Width + TRight.Width;

    public void Read(SqliteDataReader reader, int ordinal)
    {
        _left.Read(reader, ordinal);
        _right.Read(reader, ordinal + TLeft.Width);
    }

    public void Take(object[] values, int ordinal)
    {
        _left.Take(values, ordinal);
        _right.Take(values, ordinal + TLeft.Width);
    }

    public readonly uint Fold(uint h) => _right.Fold(_left.Fold(h));

    public readonly void Write(Digest digest)
    {
        _left.Write(digest);
        _right.Write(digest);
    }
}

/// <summary>Chooses the value type for the columns of a job.</summary>
internal static class FieldTypes
{
    /// <returns>A type that implements <see cref="IFields"/>; halves keep the nesting shallow enough to be inlined.</returns>
    public static Type Of(ReadOnlySpan<Column> columns)
    {
        if (columns.Length == 1)
        {
            return columns[0].Type switch
            {
                ColumnType.Integer => typeof(IntegerField),
                ColumnType.Real => typeof(RealField),
                ColumnType.Text => typeof(TextField),
                _ => typeof(BlobField),
            };
        }

        var half = columns.Length / 2;
        return typeof(Pair<,>).MakeGenericType(Of(columns[..half]), Of(columns[half..]));
    }
}
