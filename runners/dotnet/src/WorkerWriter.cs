using System.Text.Json;

namespace Sqlitmus;

/// <summary>Writes the entries of <c>workers</c>.</summary>
internal static class WorkerWriter
{
    public static void Write(Utf8JsonWriter json, WorkerResult worker)
    {
        json.WriteStartObject();
        json.WriteString("role", worker.Role);
        json.WriteNumber("operations", worker.Operations);
        json.WriteNumber("rows", worker.Rows);
        json.WriteNumber("checksum", worker.Checksum);
        ResultWriter.Write(json, "iterations_ns", worker.IterationsNs);
        json.WriteStartArray("spans_us");
        foreach (var (start, end) in worker.SpansUs)
        {
            json.WriteStartArray();
            json.WriteNumberValue(start);
            json.WriteNumberValue(end);
            json.WriteEndArray();
        }

        json.WriteEndArray();
        Write(json, "latencies", worker.Latencies);
        Write(json, "pacing", worker.Pacing);
        json.WriteNumber("busy", worker.Busy);
        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, string key, Histogram? histogram)
    {
        if (histogram is null)
        {
            return;
        }

        json.WriteStartObject(key);
        json.WriteStartArray("buckets");
        foreach (var (bucket, count) in histogram.Filled())
        {
            json.WriteStartArray();
            json.WriteNumberValue(bucket);
            json.WriteNumberValue(count);
            json.WriteEndArray();
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }
}
