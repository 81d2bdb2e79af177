import Foundation

/// One launch of the app.
@main enum Example {
    @MainActor static func main() async {
        do {
            let options = try ExampleOptions(
                arguments: Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment,
                isTerminal: isatty(1) == 1)
            if options.wantsHelp {
                print(ExampleOptions.usage)
                return
            }
            let app = ExampleApp(options)
            await app.launch()
            for command in options.commands { await app.perform(command) }
            if options.commands.isEmpty { await follow(app) }
        } catch {
            FileHandle.standardError.write(Data("storehook-client-example: \(error)\n".utf8))
            exit(2)
        }
    }

    /// Does what lines of standard input say, until they end.
    @MainActor private static func follow(_ app: ExampleApp) async {
        for await line in lines() {
            do {
                let words = line.split(separator: " ").map(String.init)
                for command in try ExampleCommand.list(words) { await app.perform(command) }
            } catch {
                app.screen.error("\(error)")
            }
        }
    }

    /// The lines of standard input. A thread of their own waits for them: the app goes on meanwhile.
    private static func lines() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return stream
    }
}
