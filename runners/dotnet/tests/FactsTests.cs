using Xunit;

namespace Sqlitmus.Tests;

public sealed class FactsTests
{
    [Fact]
    public void The_peak_of_memory_is_in_bytes()
    {
        var peak = Facts.PeakRss();
        Assert.InRange(peak!.Value, Environment.WorkingSet / 2, 1L << 36);
    }

    [Fact]
    public void Getrusage_tells_the_same_peak_as_proc()
    {
        if (!OperatingSystem.IsLinux())
        {
            return;
        }

        // A tenth less, since the kernel adds up its counters of memory now and then only.
        Assert.InRange(Native.MaxRss()!.Value * 1024, Facts.PeakRss()!.Value * 9 / 10, 1L << 36);
    }

    [Fact]
    public void The_architecture_is_that_of_the_process_in_words_of_Node()
    {
        Assert.Contains(Facts.Identity.Architecture, new[] { "x64", "arm64", "x86", "arm" });
    }
}
