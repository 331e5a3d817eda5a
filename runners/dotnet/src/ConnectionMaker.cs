using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>Opens connections as the job describes them.</summary>
internal sealed class ConnectionMaker(DatabaseSpec database, ConnectionSpec connection)
{
    // A pooled connection stays open when it is closed, and so does the file.
    private readonly string _connectionString = Builder(database, pooling: false).ToString();
    private readonly string[] _pragmas = [.. connection.Pragmas.Select(pragma => pragma.Sql)];

    /// <exception cref="UnsupportedException">The job asks for what the driver does not have.</exception>
    public static void CheckSupported(Job job)
    {
        if (job.Connection.Engine.Length > 0)
        {
            throw new UnsupportedException(
                $"Microsoft.Data.Sqlite has no engine options ({string.Join(", ", job.Connection.Engine)})");
        }

        if (job.Measure.EventLoop)
        {
            throw new UnsupportedException("a .NET program has no event loop");
        }

        if (job.Database is not { } database)
        {
            return;
        }

        if (database.Flags.Any(flag => flag is OpenFlag.NoMutex or OpenFlag.FullMutex))
        {
            throw new UnsupportedException("Microsoft.Data.Sqlite has no keyword for the open flags no-mutex and full-mutex");
        }

        if (database.Flags.Contains(OpenFlag.PrivateCache) && database.Flags.Contains(OpenFlag.SharedCache))
        {
            throw new UnsupportedException("Microsoft.Data.Sqlite passes on one of the open flags private-cache and shared-cache");
        }

        if (job.Connection.PerOperation)
        {
            CheckPooled(job, database);
        }
    }

    /// <summary>A connection with the job's pragmas and set-up.</summary>
    /// <exception cref="StatementException">A pragma or the set-up fails.</exception>
    /// <exception cref="SqliteException">The database cannot be opened.</exception>
    public SqliteConnection Open() => Open([.. _pragmas, .. connection.Setup]);

    /// <summary>The second connection of <c>open</c>: pragmas only.</summary>
    /// <exception cref="StatementException">A pragma fails.</exception>
    /// <exception cref="SqliteException">The database cannot be opened.</exception>
    public SqliteConnection OpenSecond() => Open(_pragmas);

    /// <summary>A pooled connection for each operation; the journal mode belongs to the file.</summary>
    public Lease MakeLease()
    {
        var builder = Builder(database, pooling: true);
        var others = new List<string>();
        foreach (var pragma in connection.Pragmas)
        {
            switch (pragma.Name.ToLowerInvariant(), Switch(pragma))
            {
                case ("journal_mode", _):
                    break;
                case ("foreign_keys", { } on):
                    builder.ForeignKeys = on;
                    break;
                case ("recursive_triggers", true):
                    builder.RecursiveTriggers = true;
                    break;
                default:
                    others.Add(pragma.Sql);
                    break;
            }
        }

        return new Lease(builder.ToString(), string.Join("; ", others));
    }

    /// <summary>The path with its parameters in SQLite's URI form; the driver passes it on as it is.</summary>
    internal static string FileUri(DatabaseSpec database)
    {
        var query = string.Join('&', database.Uri.Select(
            pair => $"{Uri.EscapeDataString(pair.Key)}={Uri.EscapeDataString(pair.Value)}"));
        if (database.InMemory)
        {
            return $"file:{database.Path}?{query}";
        }

        var path = System.IO.Path.GetFullPath(database.Path).Replace('\\', '/');
        var escaped = string.Join('/', path.Split('/').Select(Uri.EscapeDataString)).Replace("%3A", ":", StringComparison.Ordinal);
        return $"file://{(escaped.StartsWith('/') ? "" : "/")}{escaped}?{query}";
    }

    /// <summary>The connection string of another database, opened as the job's own.</summary>
    public string StringFor(string path) => Builder(database with { Path = path }, pooling: false).ToString();

    /// <summary>A connection of <c>open-file</c>: pragmas only.</summary>
    /// <exception cref="StatementException">A pragma fails.</exception>
    /// <exception cref="SqliteException">The database cannot be opened.</exception>
    public SqliteConnection OpenFile(string connectionString) => Open(_pragmas, connectionString);

    private SqliteConnection Open(string[] statements, string? connectionString = null)
    {
        var opened = new SqliteConnection(connectionString ?? _connectionString);
        try
        {
            opened.Open();
            using var command = opened.CreateCommand();
            foreach (var sql in statements)
            {
                command.CommandText = sql;
                try
                {
                    command.ExecuteNonQuery();
                }
                catch (SqliteException e)
                {
                    throw new StatementException(sql, e);
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

    private static SqliteConnectionStringBuilder Builder(DatabaseSpec database, bool pooling) => new()
    {
        DataSource = database.Uri.Length == 0 ? database.Path : FileUri(database),
        Mode = database.Mode == OpenMode.Readonly ? SqliteOpenMode.ReadOnly : SqliteOpenMode.ReadWrite,
        Cache = database.Flags switch
        {
            [] => SqliteCacheMode.Default,
            [OpenFlag.SharedCache, ..] => SqliteCacheMode.Shared,
            _ => SqliteCacheMode.Private,
        },
        Pooling = pooling,
    };

    private static void CheckPooled(Job job, DatabaseSpec database)
    {
        if (database.InMemory)
        {
            throw new UnsupportedException("Microsoft.Data.Sqlite does not pool connections to :memory:");
        }

        if (job.Connection.Setup.Length > 0)
        {
            throw new UnsupportedException("a connection of the pool does not tell whether its setup was run");
        }

        if (job.Transaction == TransactionKind.Read)
        {
            throw new UnsupportedException("a read transaction per iteration has no connection where each operation takes its own");
        }
    }

    private static bool? Switch(Pragma pragma) => pragma.Literal.ToLowerInvariant() switch
    {
        "1" or "'on'" or "'true'" or "'yes'" => true,
        "0" or "'off'" or "'false'" or "'no'" => false,
        _ => null,
    };
}

/// <summary>A statement failed; keeps its SQL for the result.</summary>
/// <param name="expectation">What it should have done, where it should not simply have succeeded.</param>
internal sealed class StatementException(string sql, Exception inner, string? expectation = null)
    : Exception(expectation is null ? inner.Message : $"{expectation}; got: {inner.Message}", inner)
{
    public string Sql { get; } = sql;

    /// <summary>SQLite's extended result code, where SQLite raised it.</summary>
    public int? Code => (InnerException as SqliteException)?.SqliteExtendedErrorCode;
}
