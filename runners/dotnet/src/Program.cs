namespace Sqlitmus;

/// <summary>Entry point: <c>describe</c>, <c>--job FILE</c> or <c>--jobs FOLDER</c>; see runners/contract/CONTRACT.md.</summary>
internal static class Program
{
    private const int Done = 0;
    private const int JobFailed = 1;
    private const int Unreadable = 2;

    public static int Main(string[] arguments)
    {
        switch (arguments)
        {
            case ["describe"]:
                using (var output = Console.OpenStandardOutput())
                {
                    ResultWriter.Write(Facts.Describe(), output);
                    output.WriteByte((byte)'\n');
                }

                return Done;
            case ["--job", var path]:
                return Perform(path, alone: true);
            case ["--jobs", var folder] when Directory.Exists(folder):
                var paths = Directory.GetFiles(folder, "*.json").Order(StringComparer.Ordinal);
                return paths.Select(path => Perform(path, alone: false)).Append(Done).Max();
            default:
                Console.Error.WriteLine("usage: sqlitmus-dotnet describe | --job FILE | --jobs FOLDER");
                return Unreadable;
        }
    }

    /// <param name="alone">Whether the job has the process to itself.</param>
    private static int Perform(string path, bool alone)
    {
        Job job;
        try
        {
            job = JobReader.ReadFile(path);
        }
        catch (JobException e)
        {
            Console.Error.WriteLine(e.Message);
            return Unreadable;
        }

        if (!alone && (job is { Mode: Mode.Measure, Measure.Share: not null } || job.Connection.Engine.Length > 0))
        {
            Console.Error.WriteLine($"{path}: connection.engine and measure.share need --job");
            return Unreadable;
        }

        var result = Invocation.Of(job);
        try
        {
            ResultWriter.WriteFile(result, job.Output);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            Console.Error.WriteLine($"the result of {job.Cell} cannot be written: {e.Message}");
            return JobFailed;
        }

        return result.Status == "failed" ? JobFailed : Done;
    }
}
