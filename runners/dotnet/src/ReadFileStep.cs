namespace Sqlitmus;

/// <summary>Reads the whole file that its parameter names.</summary>
internal sealed class ReadFileStep(StepSite site, object[][] paths) : Step(site)
{
    protected override void One(long n, ref Tally tally)
    {
        var content = Read((string)paths[n & (paths.Length - 1)][0]);
        tally.H = tally.H * 31 + Checksum.Of(content);
        tally.Rows++;
        Digest?.Blob(content);
        Digest?.End(1);
    }

    private static byte[] Read(string path)
    {
        try
        {
            return File.ReadAllBytes(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new MeasurementException(e.Message);
        }
    }
}
