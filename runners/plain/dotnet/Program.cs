using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Microsoft.Data.Sqlite;
using Plain;

// What a user of Microsoft.Data.Sqlite would write: `sqlitmus-plain-dotnet TASK`. ../README.md has the task.

if (args is not [var file])
{
    Console.Error.WriteLine("usage: sqlitmus-plain-dotnet TASK");
    return 2;
}

using var document = JsonDocument.Parse(File.ReadAllBytes(file));
var task = document.RootElement;
var mixed = task.GetProperty("work").GetString() == "mix";
var pool = mixed ? default : task.GetProperty("pool");

using var connection = new SqliteConnection($"Data Source={task.GetProperty("database").GetString()}");
connection.Open();
foreach (var pragma in task.GetProperty("pragmas").EnumerateArray())
{
    using var set = connection.CreateCommand();
    set.CommandText = pragma.GetString();
    set.ExecuteNonQuery();
}

var mix = mixed ? new Mix(connection, task) : null;
var sql = mixed ? "" : task.GetProperty("sql").GetString()!;
using var command = connection.CreateCommand();
var rows = 0L;
var sum = 0L;
var seen = 0.0;

Action work = task.GetProperty("work").GetString() switch
{
    "mix" => mix!.Work,
    "user" => FindUser(),
    "users" => ListUsers(),
    "range" => ListRange(),
    "insert" => Insert(),
    "insert-100" => Hundred(Insert()),
    "update-100" => Hundred(Update()),
    var other => throw new ArgumentException($"no work is called {other}"),
};

while (Console.ReadLine() is { } line)
{
    using var phase = JsonDocument.Parse(line);
    if (phase.RootElement.GetProperty("afresh").GetBoolean())
    {
        mix?.Undo();
    }

    Console.WriteLine(JsonSerializer.Serialize(Walk(phase.RootElement)));
}

if (mix is not null)
{
    (rows, sum, seen) = (mix.Rows, mix.Values, double.IsFinite(mix.Seen) ? mix.Seen : 0);
}

Console.WriteLine(JsonSerializer.Serialize(new { sqlite = connection.ServerVersion, rows, sum, seen }));
return 0;

Action FindUser()
{
    var keys = Cycle(pool.EnumerateArray().Select(row => row[0].ValueKind == JsonValueKind.String ? (object)row[0].GetString()! : row[0].GetInt64()));
    var key = Prepare("$key")[0];
    return () =>
    {
        key.Value = keys();
        using var reader = command.ExecuteReader();
        reader.Read();
        var user = User.Read(reader);
        rows++;
        sum += user.Id;
        seen += user.Rest;
    };
}

Action ListUsers()
{
    var keys = Cycle(pool.EnumerateArray().Select(row => row[0].GetInt64()));
    var from = Prepare("$from")[0];
    return () =>
    {
        from.Value = keys();
        var users = new List<User>();
        using (var reader = command.ExecuteReader())
        {
            while (reader.Read())
            {
                users.Add(User.Read(reader));
            }
        }

        foreach (var user in users)
        {
            sum += user.Id;
            seen += user.Rest;
        }

        rows += users.Count;
    };
}

Action ListRange()
{
    var keys = Cycle(pool.EnumerateArray().Select(row => (row[0].GetInt64(), row[1].GetInt64())));
    var bound = Prepare("$from", "$to");
    return () =>
    {
        (bound[0].Value, bound[1].Value) = keys();
        var entries = new List<Entry>();
        using (var reader = command.ExecuteReader())
        {
            while (reader.Read())
            {
                entries.Add(Entry.Read(reader));
            }
        }

        foreach (var entry in entries)
        {
            sum += entry.Id;
            seen += entry.Rest;
        }

        rows += entries.Count;
    };
}

Action Insert()
{
    var values = Cycle(pool.EnumerateArray().Select(row =>
        (row[0].GetInt64(), row[1].GetString()!, row[2].GetDouble(), Convert.FromHexString(row[3].GetString()!))));
    var bound = Prepare("$a", "$b", "$c", "$d");
    return () =>
    {
        (bound[0].Value, bound[1].Value, bound[2].Value, bound[3].Value) = values();
        rows += command.ExecuteNonQuery();
    };
}

Action Update()
{
    var values = Cycle(pool.EnumerateArray().Select(row => (row[0].GetDouble(), row[1].GetInt64(), row[2].GetInt64())));
    var bound = Prepare("$balance", "$updated", "$id");
    return () =>
    {
        (bound[0].Value, bound[1].Value, bound[2].Value) = values();
        rows += command.ExecuteNonQuery();
    };
}

Action Hundred(Action once) => () =>
{
    using var transaction = connection.BeginTransaction(deferred: false);
    command.Transaction = transaction;
    for (var i = 0; i < 100; i++)
    {
        once();
    }

    transaction.Commit();
};

// The command with its parameters, which are named in place of the question marks.
SqliteParameter[] Prepare(params string[] names)
{
    var pieces = sql.Split('?');
    command.CommandText = pieces[0] + string.Concat(names.Zip(pieces[1..], (name, piece) => name + piece));
    var parameters = names.Select(name => command.Parameters.AddWithValue(name, 0)).ToArray();
    command.Prepare();
    return parameters;
}

// The next of the pool, which begins again at its end.
static Func<T> Cycle<T>(IEnumerable<T> source)
{
    var all = source.ToArray();
    var place = 0;
    return () =>
    {
        var one = all[place];
        place = (place + 1) % all.Length;
        return one;
    };
}

// Nanoseconds for which this thread has waited for a processor, where Linux tells.
static long Waited()
{
    const string Told = "/proc/thread-self/schedstat";
    return File.Exists(Told) ? long.Parse(File.ReadAllText(Told).Split(' ')[1], CultureInfo.InvariantCulture) : 0;
}

// Works for so many operations, and then until so many seconds have passed: it looks at the clock after every 16th.
object Walk(JsonElement phase)
{
    var (operations, seconds) = (phase.GetProperty("operations").GetInt64(), phase.GetProperty("seconds").GetDouble());
    var before = Waited();
    var clock = Stopwatch.StartNew();
    for (var i = 0L; i < operations; i++)
    {
        work();
    }

    var elapsed = clock.Elapsed;
    while (elapsed.TotalSeconds < seconds)
    {
        for (var i = 0; i < 16; i++)
        {
            work();
        }

        operations += 16;
        elapsed = clock.Elapsed;
    }

    return new { operations, ns = (long)elapsed.TotalNanoseconds, waited = Waited() - before };
}

internal sealed record User(long Id, long Created, string Email, double Score, long Active)
{
    public double Rest => Created + Email.Length + Score + Active;

    public static User Read(SqliteDataReader reader) => new(
        reader.GetInt64(0), reader.GetInt64(1), reader.GetString(2), reader.GetDouble(3), reader.GetInt64(4));
}

internal sealed record Entry(long Id, long Created, string Email)
{
    public long Rest => Created + Email.Length;

    public static Entry Read(SqliteDataReader reader) => new(reader.GetInt64(0), reader.GetInt64(1), reader.GetString(2));
}
