using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>How a step comes by a command with its parameters bound.</summary>
internal interface IStatement
{
    /// <summary>The command for execution number <paramref name="n"/>.</summary>
    SqliteCommand Begin(long n);

    void End(SqliteCommand command);
}

/// <summary><c>prepared</c>: one command; only the values of its parameters change.</summary>
internal readonly struct PreparedStatement(SqliteCommand command, object[][] pool) : IStatement
{
    private readonly SqliteParameter[] _parameters = [.. command.Parameters.Cast<SqliteParameter>()];
    private readonly int _mask = pool.Length - 1;

    public SqliteCommand Begin(long n)
    {
        var values = pool[(int)n & _mask];
        var parameters = _parameters;
        for (var index = 0; index < parameters.Length; index++)
        {
            parameters[index].Value = values[index];
        }

        return command;
    }

    public void End(SqliteCommand command)
    {
    }
}

/// <summary><c>adhoc</c>: a command, parameters and all, for each execution.</summary>
internal readonly struct AdhocStatement<TSource>(TSource source, NamedSql sql, object[][] pool) : IStatement
    where TSource : struct, IConnectionSource
{
    private readonly string[] _names = sql.Names;
    private readonly string _text = sql.Text;
    private readonly int _mask = pool.Length - 1;

    public SqliteCommand Begin(long n)
    {
        var values = pool[(int)n & _mask];
        // CreateCommand also enlists the command in the connection's transaction.
        var command = source.Connection.CreateCommand();
        command.CommandText = _text;
        for (var index = 0; index < values.Length; index++)
        {
            command.Parameters.AddWithValue(_names[index], values[index]);
        }

        return command;
    }

    public void End(SqliteCommand command) => command.Dispose();
}

/// <summary><c>prepared</c> where each operation takes a connection: a command per operation, closed with its connection.</summary>
internal struct LeasedStatement(Lease lease, NamedSql sql, object[][] pool) : IStatement
{
    private readonly AdhocStatement<LeasedConnection> _maker = new(new LeasedConnection(lease), sql, pool);
    private readonly int _mask = pool.Length - 1;
    private SqliteCommand? _command;

    public SqliteCommand Begin(long n)
    {
        if (_command?.Connection != lease.Connection)
        {
            return _command = _maker.Begin(n);
        }

        var values = pool[(int)n & _mask];
        for (var index = 0; index < values.Length; index++)
        {
            _command.Parameters[index].Value = values[index];
        }

        return _command;
    }

    public readonly void End(SqliteCommand command)
    {
    }
}
