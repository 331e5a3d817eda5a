using System.Diagnostics;
using System.Text.Json;
using Handwritten;
using Microsoft.Data.Sqlite;
using Sqlitmus;

// What an expert in Microsoft.Data.Sqlite would write for three workloads, SQL and types in the source. Of the job it
// reads only the database, pragmas, parameter pool, counts, when to reset, barrier and output. It shares nothing with
// the runner but the barrier, which stands off the clock: the runner is measured against it.

if (args is not ["--job", var jobPath])
{
    Console.Error.WriteLine("usage: sqlitmus-dotnet-handwritten --job FILE");
    return 2;
}

using var document = JsonDocument.Parse(File.ReadAllBytes(jobPath));
var job = document.RootElement;
var cell = job.GetProperty("cell").GetString()!;
var measure = job.GetProperty("measure");
var operations = measure.GetProperty("operations_per_iteration").GetInt32();

using var connection = new SqliteConnection(
    $"Data Source={job.GetProperty("database").GetProperty("path").GetString()};Mode=ReadWrite;Pooling=False");
connection.Open();
foreach (var pragma in job.GetProperty("connection").GetProperty("pragmas").EnumerateArray())
{
    using var command = connection.CreateCommand();
    command.CommandText = $"PRAGMA {pragma[0]} = {pragma[1]}";
    command.ExecuteNonQuery();
}

var rows = job.GetProperty("steps")[0].GetProperty("parameters").GetProperty("rows");
using IWorkload workload = cell.Split('@', '/')[0] switch
{
    "get-pk" => new GetPk(connection, rows),
    "all" => new All(connection, rows),
    "insert-transaction" => new InsertTransaction(connection, rows),
    var other => throw new ArgumentException($"no hand-written loop for \"{other}\"; expected get-pk, all or insert-transaction"),
};

var barrier = measure.TryGetProperty("share", out _) ? ProcessBarrier.OfConsole() : null;
var warmupNs = measure.TryGetProperty("warmup_ns", out var least) ? least.GetInt64() : 0;
var warmup = new List<long>();
var iterations = new List<long>();
long? resetEvery = job.TryGetProperty("reset_every", out var every) && every.ValueKind == JsonValueKind.Number
    ? every.GetInt64()
    : null;
var answers = new List<Counts>();
while (warmup.Count < measure.GetProperty("warmup_iterations").GetInt32() || warmup.Sum() < warmupNs)
{
    warmup.Add(Time());
}

for (var iteration = measure.GetProperty("iterations").GetInt32(); iteration > 0; iteration--)
{
    iterations.Add(Time());
}

var output = job.GetProperty("output").GetString()!;
using (var file = File.Create(output + ".part"))
using (var json = new Utf8JsonWriter(file))
{
    Report.Write(json, cell, (long)operations * answers.Count, answers, warmup, iterations);
}

File.Move(output + ".part", output, overwrite: true);
return 0;

long Time()
{
    var first = (long)operations * answers.Count;
    if (first % resetEvery == 0)
    {
        workload.Reset();
    }

    workload.Begin();
    barrier?.Await();
    var start = Stopwatch.GetTimestamp();
    var returned = workload.Run(first, operations);
    var end = Stopwatch.GetTimestamp();
    workload.End();
    answers.Add(returned);
    return (long)Stopwatch.GetElapsedTime(start, end).TotalNanoseconds;
}
