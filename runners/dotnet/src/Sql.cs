using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>Statements off the clock.</summary>
internal static class Sql
{
    /// <exception cref="StatementException">The statement failed.</exception>
    public static void Execute(SqliteConnection connection, string sql) =>
        Try(connection, sql, command => command.ExecuteNonQuery());

    /// <returns>The first column of the first row as long, double, string or byte[]; null without a row.</returns>
    /// <exception cref="StatementException">The statement failed.</exception>
    public static object? Scalar(SqliteConnection connection, string sql) =>
        Try(connection, sql, command => command.ExecuteScalar());

    /// <returns>One column of all rows as text.</returns>
    /// <exception cref="StatementException">The statement failed.</exception>
    public static IReadOnlyList<string> Texts(SqliteConnection connection, NamedSql sql, int ordinal, object[] values) =>
        Try(connection, sql.Text, command =>
        {
            for (var index = 0; index < values.Length; index++)
            {
                command.Parameters.AddWithValue(sql.Names[index], values[index]);
            }

            var texts = new List<string>();
            using var reader = command.ExecuteReader();
            while (reader.Read())
            {
                texts.Add(reader.GetString(ordinal));
            }

            return texts;
        });

    /// <summary>A column that nobody reads would make a statement look fast.</summary>
    /// <exception cref="StatementException">The statement has another number of columns.</exception>
    public static void RequireColumns(SqliteConnection connection, string sql, int columns)
    {
        var code = SQLitePCL.raw.sqlite3_prepare_v2(connection.Handle, sql, out var statement);
        using (statement)
        {
            var found = code == SQLitePCL.raw.SQLITE_OK ? SQLitePCL.raw.sqlite3_column_count(statement) : columns;
            if (found != columns)
            {
                throw new StatementException(
                    sql, new InvalidOperationException($"the job declares {columns} columns, the statement has {found}"));
            }
        }
    }

    private static T Try<T>(SqliteConnection connection, string sql, Func<SqliteCommand, T> action)
    {
        using var command = connection.CreateCommand();
        command.CommandText = sql;
        try
        {
            return action(command);
        }
        catch (Exception e) when (e is SqliteException or InvalidOperationException)
        {
            throw new StatementException(sql, e);
        }
    }
}
