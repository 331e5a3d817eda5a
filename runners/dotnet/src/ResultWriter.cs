using System.Text.Json;

namespace Sqlitmus;

/// <summary>Writes results and descriptions, by hand for the same reason that jobs are read so.</summary>
internal static class ResultWriter
{
    /// <summary>Writes the whole file or nothing.</summary>
    public static void WriteFile(Result result, string output)
    {
        var temporary = $"{output}.{Environment.ProcessId}.part";
        using (var file = File.Create(temporary))
        {
            Write(result, file);
        }

        File.Move(temporary, output, overwrite: true);
    }

    public static void Write(Result result, Stream stream)
    {
        using var json = new Utf8JsonWriter(stream);
        json.WriteStartObject();
        json.WriteNumber("contract", JobReader.ContractVersion);
        json.WriteString("cell", result.Cell);
        json.WriteString("status", result.Status);
        json.WriteString("reason", result.Reason);
        Write(json, "error", result.Error);
        Write(json, Facts.Identity);
        json.WriteString("sqlite_version", result.SqliteVersion);
        json.WriteStartObject("effective");
        json.WriteStartObject("pragmas");
        foreach (var (name, value) in result.Pragmas)
        {
            json.WritePropertyName(name);
            WriteValue(json, value);
        }

        json.WriteEndObject();
        json.WriteEndObject();
        json.WriteStartArray("plans");
        foreach (var plan in result.Plans)
        {
            WriteTexts(json, plan);
        }

        json.WriteEndArray();
        json.WriteNumber("operations", result.Operations);
        json.WriteNumber("rows", result.Rows);
        json.WriteNumber("affected", result.Affected);
        json.WriteNumber("checksum", result.Checksum);
        if (result.Readback is { } proof)
        {
            json.WriteStartObject("readback");
            json.WriteNumber("rows", proof.Rows);
            json.WriteNumber("checksum", proof.Checksum);
            json.WriteEndObject();
        }

        json.WriteString("digest", result.Digest);
        Write(json, "warmup_ns", result.WarmupNs);
        Write(json, "iterations_ns", result.IterationsNs);
        json.WriteStartObject("phases_ns");
        Write(json, "open", result.PhasesNs.Open);
        Write(json, "prepare", result.PhasesNs.Prepare);
        Write(json, "close", result.PhasesNs.Close);
        json.WriteEndObject();
        Write(json, "cpu_ns", result.CpuNs);
        Write(json, "peak_rss_bytes", result.PeakRssBytes);
        json.WriteStartArray("workers");
        foreach (var worker in result.Workers)
        {
            WorkerWriter.Write(json, worker);
        }

        json.WriteEndArray();
        if (result.Switches is { } switches)
        {
            json.WriteStartObject("switches");
            json.WriteNumber("voluntary", switches.Voluntary);
            json.WriteNumber("involuntary", switches.Involuntary);
            json.WriteEndObject();
        }

        if (result.PageFaults is { } faults)
        {
            json.WriteStartObject("page_faults");
            json.WriteNumber("minor", faults.Minor);
            json.WriteNumber("major", faults.Major);
            json.WriteEndObject();
        }

        Write(json, "allocated_bytes", result.AllocatedBytes);
        Write(json, "collections", result.Collections);
        json.WriteStartArray("answers");
        foreach (var tally in result.Answers)
        {
            json.WriteStartArray();
            json.WriteNumberValue(tally.Rows);
            json.WriteNumberValue(tally.Affected);
            json.WriteNumberValue(tally.Checksum);
            json.WriteEndArray();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    public static void Write(Description description, Stream stream)
    {
        using var json = new Utf8JsonWriter(stream);
        json.WriteStartObject();
        json.WriteNumber("contract", JobReader.ContractVersion);
        Write(json, Facts.Identity);
        json.WriteStartObject("sqlite");
        json.WriteString("version", description.SqliteVersion);
        json.WriteString("source_id", description.SourceId);
        Write(json, "compile_options", description.CompileOptions);
        json.WriteNumber("threadsafe", description.Threadsafe);
        json.WriteEndObject();
        json.WriteStartObject("features");
        foreach (var (name, words) in description.Features)
        {
            Write(json, name, words);
        }

        json.WriteEndObject();
        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, Identity identity)
    {
        json.WriteStartObject("identity");
        json.WriteString("runner", identity.Runner);
        foreach (var (key, versioned) in new[] { ("runtime", identity.Runtime), ("driver", identity.Driver) })
        {
            json.WriteStartObject(key);
            json.WriteString("name", versioned.Name);
            json.WriteString("version", versioned.Version);
            json.WriteEndObject();
        }

        json.WriteString("architecture", identity.Architecture);
        Write(json, "flags", identity.Flags);
        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, string key, Failure? failure)
    {
        if (failure is null)
        {
            return;
        }

        json.WriteStartObject(key);
        json.WriteString("message", failure.Message);
        Write(json, "sqlite_code", failure.SqliteCode);
        json.WriteString("sql", failure.Sql);
        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, string key, long? number)
    {
        if (number is { } value)
        {
            json.WriteNumber(key, value);
        }
        else
        {
            json.WriteNull(key);
        }
    }

    public static void Write(Utf8JsonWriter json, string key, IReadOnlyList<long> numbers)
    {
        json.WriteStartArray(key);
        foreach (var number in numbers)
        {
            json.WriteNumberValue(number);
        }

        json.WriteEndArray();
    }

    private static void Write(Utf8JsonWriter json, string key, IReadOnlyList<string> texts)
    {
        json.WritePropertyName(key);
        WriteTexts(json, texts);
    }

    private static void WriteTexts(Utf8JsonWriter json, IReadOnlyList<string> texts)
    {
        json.WriteStartArray();
        foreach (var text in texts)
        {
            json.WriteStringValue(text);
        }

        json.WriteEndArray();
    }

    private static void WriteValue(Utf8JsonWriter json, object? value)
    {
        switch (value)
        {
            case long number:
                json.WriteNumberValue(number);
                break;
            case string text:
                json.WriteStringValue(text);
                break;
            default:
                json.WriteNullValue();
                break;
        }
    }
}
