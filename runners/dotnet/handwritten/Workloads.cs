using System.Text.Json;
using Microsoft.Data.Sqlite;

namespace Handwritten;

internal readonly record struct Counts(uint Checksum, long Rows, long Affected);

internal interface IWorkload : IDisposable
{
    /// <summary>Takes away what earlier operations wrote; off the clock.</summary>
    void Reset()
    {
    }

    /// <summary>What comes before the clock of each iteration.</summary>
    void Begin()
    {
    }

    /// <summary>Operations from number <paramref name="first"/> on.</summary>
    Counts Run(long first, int operations);

    /// <summary>What comes after the clock of each iteration.</summary>
    void End()
    {
    }
}

/// <summary>The five columns that both reads select. None can be NULL, so nothing asks IsDBNull, which is a native call.</summary>
internal sealed class User
{
    public required long Id { get; init; }
    public required long Created { get; init; }
    public required string Email { get; init; }
    public required double Score { get; init; }
    public required long Active { get; init; }

    public static User Read(SqliteDataReader reader) => new()
    {
        Id = reader.GetInt64(0),
        Created = reader.GetInt64(1),
        Email = reader.GetString(2),
        Score = reader.GetDouble(3),
        Active = reader.GetInt64(4),
    };

    public uint Fold(uint h)
    {
        unchecked
        {
            h = h * 31 + (uint)Id;
            h = h * 31 + (uint)Created;
            h = h * 31 + (Email.Length == 0 ? 0 : 31u * Email[0] + Email[^1]);
            h = h * 31 + (uint)(long)Score;
            h = h * 31 + (uint)Active;
            return h;
        }
    }
}

/// <summary>A row of users by its key, inside one read transaction.</summary>
internal sealed class GetPk : IWorkload
{
    private readonly SqliteConnection _connection;
    private readonly SqliteCommand _command;
    private readonly SqliteParameter _id;
    private readonly object[] _pool;
    private SqliteTransaction? _transaction;

    public GetPk(SqliteConnection connection, JsonElement rows)
    {
        _connection = connection;
        _pool = [.. rows.EnumerateArray().Select(row => (object)row[0].GetInt64())];
        _command = connection.CreateCommand();
        _command.CommandText = "SELECT id, created, email, score, active FROM users WHERE id = $id";
        _id = _command.Parameters.Add("$id", SqliteType.Integer);
        _id.Value = 0L;
        _command.Prepare();
    }

    public void Begin()
    {
        _transaction = _connection.BeginTransaction(deferred: true);
        _command.Transaction = _transaction;
        using var read = _connection.CreateCommand();
        read.CommandText = "SELECT count(*) FROM sqlite_schema";
        read.ExecuteNonQuery();
    }

    public Counts Run(long first, int operations)
    {
        var sum = 0u;
        var rows = 0L;
        var mask = _pool.Length - 1;
        for (var n = first; n < first + operations; n++)
        {
            _id.Value = _pool[n & mask];
            using var reader = _command.ExecuteReader();
            if (reader.Read())
            {
                sum += User.Read(reader).Fold(0);
                rows++;
            }
        }

        return new Counts(sum, rows, 0);
    }

    public void End()
    {
        _transaction!.Commit();
        _command.Transaction = null;
    }

    public void Dispose() => _command.Dispose();
}

/// <summary>A hundred rows of users as a list.</summary>
internal sealed class All : IWorkload
{
    private readonly SqliteCommand _command;
    private readonly SqliteParameter _id;
    private readonly object[] _pool;

    public All(SqliteConnection connection, JsonElement rows)
    {
        _pool = [.. rows.EnumerateArray().Select(row => (object)row[0].GetInt64())];
        _command = connection.CreateCommand();
        _command.CommandText = "SELECT id, created, email, score, active FROM users WHERE id >= $id ORDER BY id LIMIT 100";
        _id = _command.Parameters.Add("$id", SqliteType.Integer);
        _id.Value = 0L;
        _command.Prepare();
    }

    public Counts Run(long first, int operations)
    {
        var sum = 0u;
        var rows = 0L;
        var mask = _pool.Length - 1;
        for (var n = first; n < first + operations; n++)
        {
            _id.Value = _pool[n & mask];
            var users = new List<User>();
            using (var reader = _command.ExecuteReader())
            {
                while (reader.Read())
                {
                    users.Add(User.Read(reader));
                }
            }

            var h = 0u;
            foreach (var user in users)
            {
                h = user.Fold(h);
            }

            sum += h;
            rows += users.Count;
        }

        return new Counts(sum, rows, 0);
    }

    public void Dispose() => _command.Dispose();
}

/// <summary>A hundred rows into sink in one immediate transaction.</summary>
internal sealed class InsertTransaction : IWorkload
{
    private const int RowsPerTransaction = 100;

    private readonly SqliteConnection _connection;
    private readonly SqliteCommand _command;
    private readonly SqliteParameter _a;
    private readonly SqliteParameter _b;
    private readonly SqliteParameter _c;
    private readonly SqliteParameter _d;
    private readonly (object A, object B, object C, object D)[] _pool;

    public InsertTransaction(SqliteConnection connection, JsonElement rows)
    {
        _connection = connection;
        _pool = [.. rows.EnumerateArray().Select(row => (
            (object)row[0].GetInt64(), (object)row[1].GetString()!, (object)row[2].GetDouble(),
            (object)Convert.FromHexString(row[3].GetString()!)))];
        _command = connection.CreateCommand();
        _command.CommandText = "INSERT INTO sink(a, b, c, d) VALUES ($a, $b, $c, $d)";
        _a = _command.Parameters.Add("$a", SqliteType.Integer);
        _b = _command.Parameters.Add("$b", SqliteType.Text);
        _c = _command.Parameters.Add("$c", SqliteType.Real);
        _d = _command.Parameters.Add("$d", SqliteType.Blob);
        _command.Prepare();
    }

    public void Reset()
    {
        using var reset = _connection.CreateCommand();
        reset.CommandText = "DELETE FROM sink";
        reset.ExecuteNonQuery();
    }

    public Counts Run(long first, int operations)
    {
        var sum = 0u;
        var affected = 0L;
        var mask = _pool.Length - 1;
        var n = first * RowsPerTransaction;
        for (var operation = 0; operation < operations; operation++)
        {
            var h = 0u;
            using var transaction = _connection.BeginTransaction(deferred: false);
            _command.Transaction = transaction;
            for (var row = 0; row < RowsPerTransaction; row++, n++)
            {
                (_a.Value, _b.Value, _c.Value, _d.Value) = _pool[n & mask];
                var changed = _command.ExecuteNonQuery();
                affected += changed;
                h = h * 31 + (uint)changed;
            }

            transaction.Commit();
            _command.Transaction = null;
            sum += h;
        }

        return new Counts(sum, 0, affected);
    }

    public void Dispose() => _command.Dispose();
}
