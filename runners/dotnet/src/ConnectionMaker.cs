using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>Opens connections as the job describes them.</summary>
internal sealed class ConnectionMaker(DatabaseSpec database, ConnectionSpec connection)
{
    private readonly string _connectionString = new SqliteConnectionStringBuilder
    {
        DataSource = database.Uri.Length == 0 ? database.Path : FileUri(database),
        Mode = database.Mode == OpenMode.Readonly ? SqliteOpenMode.ReadOnly : SqliteOpenMode.ReadWrite,
        // A pooled connection stays open when it is closed, and so does the file.
        Pooling = false,
    }.ToString();

    /// <exception cref="StatementException">The database cannot be opened, or a pragma fails.</exception>
    public SqliteConnection Open(bool worker = false)
    {
        var opened = new SqliteConnection(_connectionString);
        try
        {
            opened.Open();
            using var command = opened.CreateCommand();
            foreach (var pragma in worker ? connection.Pragmas.Concat(connection.WorkerPragmas) : connection.Pragmas)
            {
                command.CommandText = pragma.Sql;
                try
                {
                    command.ExecuteNonQuery();
                }
                catch (SqliteException e)
                {
                    throw new StatementException(pragma.Sql, e);
                }
            }

            return opened;
        }
        catch
        {
            opened.Dispose();
            throw;
        }
    }

    /// <summary>The path with its parameters in SQLite's URI form; the driver passes it on as it is.</summary>
    internal static string FileUri(DatabaseSpec database)
    {
        var path = System.IO.Path.GetFullPath(database.Path).Replace('\\', '/');
        var escaped = string.Join('/', path.Split('/').Select(Uri.EscapeDataString)).Replace("%3A", ":", StringComparison.Ordinal);
        var query = string.Join('&', database.Uri.Select(
            pair => $"{Uri.EscapeDataString(pair.Key)}={Uri.EscapeDataString(pair.Value)}"));
        return $"file://{(escaped.StartsWith('/') ? "" : "/")}{escaped}?{query}";
    }
}

/// <summary>A statement failed; keeps its SQL for the result.</summary>
internal sealed class StatementException(string sql, Exception inner) : Exception(inner.Message, inner)
{
    public string Sql { get; } = sql;

    /// <summary>SQLite's extended result code, where SQLite raised it.</summary>
    public int? Code => (InnerException as SqliteException)?.SqliteExtendedErrorCode;
}
