namespace Sqlitmus;

/// <summary>Entry point: <c>describe</c> or <c>--job FILE</c>; see runners/contract/CONTRACT.md.</summary>
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
                try
                {
                    return Perform(JobReader.ReadFile(path));
                }
                catch (JobException e)
                {
                    Console.Error.WriteLine(e.Message);
                    return Unreadable;
                }
            default:
                Console.Error.WriteLine("usage: sqlitmus-dotnet describe | --job FILE");
                return Unreadable;
        }
    }

    private static int Perform(Job job)
    {
        var result = Performance.Of(job);
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
