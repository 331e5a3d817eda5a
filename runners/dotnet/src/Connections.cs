using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>Where an execution finds its connection; value types, so that the JIT makes straight code of them.</summary>
internal interface IConnectionSource
{
    SqliteConnection Connection { get; }
}

/// <summary>The session's own connection.</summary>
internal readonly struct OwnConnection(SqliteConnection connection) : IConnectionSource
{
    public SqliteConnection Connection => connection;
}

/// <summary>The connection that the operation has taken from the pool.</summary>
internal readonly struct LeasedConnection(Lease lease) : IConnectionSource
{
    public SqliteConnection Connection => lease.Connection;
}

/// <summary>A connection of the driver's pool, one for each operation.</summary>
/// <param name="pragmas">Statements after opening, for what the connection string has no keyword for.</param>
internal sealed class Lease(string connectionString, string pragmas) : IDisposable
{
    private SqliteConnection? _connection;

    /// <summary>The operation's connection; only between <see cref="Take"/> and <see cref="Return"/>.</summary>
    public SqliteConnection Connection => _connection!;

    /// <exception cref="SqliteException">The database cannot be opened.</exception>
    /// <exception cref="StatementException">A pragma failed.</exception>
    public void Take()
    {
        _connection = new SqliteConnection(connectionString);
        _connection.Open();
        if (pragmas.Length > 0)
        {
            Sql.Execute(_connection, pragmas);
        }
    }

    /// <summary>Closes the connection, and with it the commands made for it; the pool keeps it open.</summary>
    public void Return() => _connection?.Dispose();

    /// <summary>Empties the pool, so that the file is closed.</summary>
    public void Dispose()
    {
        using var connection = new SqliteConnection(connectionString);
        SqliteConnection.ClearPool(connection);
    }
}
