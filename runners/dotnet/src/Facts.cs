using System.Diagnostics;
using System.Globalization;
using System.Reflection;
using System.Runtime;
using System.Runtime.InteropServices;
using Microsoft.Data.Sqlite;

namespace Sqlitmus;

/// <summary>Who this is: identity, SQLite and features, and this process's memory.</summary>
internal static class Facts
{
    public static Identity Identity { get; } = new(
        "dotnet",
        new Versioned(".NET", Environment.Version.ToString()),
        new Versioned("Microsoft.Data.Sqlite", DriverVersion()),
        RuntimeInformation.ProcessArchitecture.ToString().ToLowerInvariant(),
        Flags());

    public static Description Describe()
    {
        using var connection = new SqliteConnection("Data Source=:memory:;Pooling=False");
        connection.Open();
        return new Description(
            connection.ServerVersion,
            (string)Sql.Scalar(connection, "SELECT sqlite_source_id()")!,
            Sql.Texts(connection, new NamedSql("PRAGMA compile_options", []), 0, []),
            SQLitePCL.raw.sqlite3_threadsafe(),
            [
                ("levels", ["core", "workers", "load", "extras"]),
                ("operations", ["get", "all", "iterate", "run", "prepare", "open", "open-file", "execute", "read-file"]),
                ("shapes", ["object", "array", "typed"]),
                ("integers", ["number"]),
                ("statements", ["prepared", "adhoc"]),
                ("bindings", ["positional", "named"]),
                ("transactions", ["none", "deferred", "immediate", "read"]),
                ("engine", []),
                ("flags", ["private-cache", "shared-cache"]),
                ("lacks", ["in-transaction", "unread"]),
                ("figures", ["allocated_bytes", "collections"]),
            ]);
    }

    /// <summary>
    /// The high-water mark of resident memory in bytes: VmHWM on Linux, where a spawner's own size leaks into ru_maxrss;
    /// on macOS ru_maxrss, since .NET knows no peak there; on Windows the peak of the working set.
    /// </summary>
    public static long? PeakRss()
    {
        if (OperatingSystem.IsMacOS())
        {
            return Native.MaxRss();
        }

        if (!OperatingSystem.IsLinux())
        {
            using var process = Process.GetCurrentProcess();
            return process.PeakWorkingSet64 is > 0 and var peak ? peak : null;
        }

        const string Key = "VmHWM:";
        var line = File.ReadLines("/proc/self/status").FirstOrDefault(text => text.StartsWith(Key, StringComparison.Ordinal));
        return line is null
            ? null
            : long.Parse(line[Key.Length..^2].Trim(), NumberStyles.None, CultureInfo.InvariantCulture) * 1024;
    }

    private static string DriverVersion()
    {
        var version = typeof(SqliteConnection).Assembly
            .GetCustomAttribute<AssemblyInformationalVersionAttribute>()!.InformationalVersion;
        return version.Split('+')[0];
    }

    private static string[] Flags()
    {
        var gc = GCSettings.IsServerGC ? "server" : "workstation";
        var concurrent = GCSettings.LatencyMode == GCLatencyMode.Batch ? "blocking" : "concurrent";
        return
        [
            $"gc={gc},{concurrent}",
            .. Setting("TieredCompilation", "DOTNET_TieredCompilation"),
            .. Setting("TieredPGO", "DOTNET_TieredPGO"),
            .. Setting("TieredCompilation.CallCountingDelayMs", "DOTNET_TC_CallCountingDelayMs"),
            .. Setting("TieredCompilation.BackgroundWorkerTimeoutMs", "DOTNET_TC_BackgroundWorkerTimeoutMs"),
        ];
    }

    /// <summary>A runtime setting where one is given; the environment has precedence over runtimeconfig.json.</summary>
    private static IEnumerable<string> Setting(string name, string variable)
    {
        var value = Environment.GetEnvironmentVariable(variable) ?? AppContext.GetData($"System.Runtime.{name}")?.ToString();
        return value is null ? [] : [$"{name}={value}"];
    }
}
