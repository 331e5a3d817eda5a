using System.Runtime.InteropServices;
using System.Text.Json;

namespace Handwritten;

/// <summary>Writes a result that holds to the schema, with no more in it than the comparison needs.</summary>
internal static class Report
{
    public static void Write(
        Utf8JsonWriter json, string cell, long operations, List<Counts> answers, List<long> warmup, List<long> iterations)
    {
        json.WriteStartObject();
        json.WriteNumber("contract", 2);
        json.WriteString("cell", cell);
        json.WriteString("status", "ok");
        json.WriteStartObject("identity");
        json.WriteString("runner", "dotnet");
        Versioned(json, "runtime", ".NET", Environment.Version.ToString());
        Versioned(json, "driver", "Microsoft.Data.Sqlite", "hand-written");
        json.WriteString("architecture", RuntimeInformation.ProcessArchitecture.ToString().ToLowerInvariant());
        json.WriteEndObject();
        json.WriteNumber("operations", operations);
        json.WriteNumber("rows", answers.Sum(answer => answer.Rows));
        json.WriteNumber("affected", answers.Sum(answer => answer.Affected));
        json.WriteNumber("checksum", (uint)answers.Sum(answer => answer.Checksum));
        json.WriteStartArray("answers");
        answers.ForEach(answer => JsonSerializer.Serialize(json, new[] { answer.Rows, answer.Affected, answer.Checksum }));
        json.WriteEndArray();
        Numbers(json, "warmup_ns", warmup);
        Numbers(json, "iterations_ns", iterations);
        json.WriteEndObject();
    }

    private static void Versioned(Utf8JsonWriter json, string key, string name, string version)
    {
        json.WriteStartObject(key);
        json.WriteString("name", name);
        json.WriteString("version", version);
        json.WriteEndObject();
    }

    private static void Numbers(Utf8JsonWriter json, string key, List<long> numbers)
    {
        json.WriteStartArray(key);
        foreach (var number in numbers)
        {
            json.WriteNumberValue(number);
        }

        json.WriteEndArray();
    }
}
