import ArgumentParser

/// The measurements. Each is a command of its own, so that one can be repeated without the others.
@main
struct StorehookBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storehook-bench",
        abstract: "Measures storehook on this machine.",
        discussion: "Example: storehook-bench verify --seconds 5 --json",
        subcommands: [
            VerifyBenchmark.self, PackBenchmark.self, ReceiveBenchmark.self, DrainBenchmark.self, ScaleBenchmark.self,
            EndToEndBenchmark.self, ReadsBenchmark.self, OrdersBenchmark.self, FiguresBenchmark.self,
            ConsoleBenchmark.self, HistoryBenchmark.self,
            EventsCommand.self, ChaosCommand.self,
            PressureCommand.self, PoisonedWorker.self, PlainWorker.self, StrangersCommand.self, UpgradeCommand.self,
            ReconcileBenchmark.self, OutageBenchmark.self, AccountAPIBenchmark.self, BareAPI.self,
        ]
    )
}
