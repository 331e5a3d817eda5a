using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>How a step comes by a command with its parameters bound.</summary>
internal interface IStatement
{
    /// <summary>The command for execution number <paramref name="n"/> of the iteration.</summary>
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
internal readonly struct AdhocStatement(SqliteConnection connection, string sql, object[][] pool) : IStatement
{
    private readonly string[] _names = [.. pool[0].Select((_, index) => Placeholders.NameOf(index))];
    private readonly int _mask = pool.Length - 1;

    public SqliteCommand Begin(long n)
    {
        var values = pool[(int)n & _mask];
        // CreateCommand also enlists the command in the connection's transaction.
        var command = connection.CreateCommand();
        command.CommandText = sql;
        for (var index = 0; index < values.Length; index++)
        {
            command.Parameters.AddWithValue(_names[index], values[index]);
        }

        return command;
    }

    public void End(SqliteCommand command) => command.Dispose();
}
