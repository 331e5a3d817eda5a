using System.Text;
using System.Text.Json;
using Microsoft.Data.Sqlite;

namespace Sqlitmus.Tests;

/// <summary>A database of a few rows in a folder of its own, and jobs performed on it.</summary>
public sealed class JobRun : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("sqlitmus").FullName;

    public JobRun()
    {
        using var connection = new SqliteConnection($"Data Source={Database};Pooling=False");
        connection.Open();
        using var command = connection.CreateCommand();
        command.CommandText = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, b BLOB);
            INSERT INTO t VALUES (1, 5, 2.5, 'ab', x'0102'), (2, NULL, NULL, NULL, NULL), (3, -1, -1.5, '', x'');
            CREATE TABLE sink(id INTEGER PRIMARY KEY, a INTEGER UNIQUE);
            """;
        command.ExecuteNonQuery();
    }

    public string Database => Path.Combine(_folder, "a b?.db");

    /// <summary>Performs a job given as JSON without its first and last members.</summary>
    /// <param name="database">More members of the database.</param>
    /// <param name="path">Another path than this database's.</param>
    internal Result Perform(string members, string mode = "measure", string database = "", string? path = null) =>
        Invocation.Of(Read(members, mode, path ?? Database, database));

    /// <summary>A job on this database, given as JSON without its first and last members.</summary>
    internal Job Read(string members) => Read(members, "measure", Database);

    internal static Job Read(string members, string mode, string path, string database = "")
    {
        var text = $$"""
            {
              "cell": "test", "mode": "{{mode}}", "output": "unused",
              "database": {"path": {{JsonSerializer.Serialize(path)}} {{database}}},
              {{members}}
            }
            """;
        return JobReader.Read(Encoding.UTF8.GetBytes(text), "job");
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);
}
