import ArgumentParser
import Base
import Operations
import Postgres

#if canImport(Glibc)
    import Glibc
#endif

/// The program and its commands.
struct Storehook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storehook",
        abstract: "Turns Apple's App Store Server Notifications V2 into subscription state you can trust.",
        discussion: """
            A receiver stores what Apple posts, workers verify and apply it, PostgreSQL is all they share.

            Example: storehook migrate && storehook receive --port 8080
            """,
        version: "storehook \(Release.version) (commit \(Release.commit))",
        subcommands: [
            Migrate.self, Receive.self, Work.self, QueueCommand.self, DeadLetters.self, JobsCommand.self, Verify.self,
            Simulate.self,
            SubscriptionCommand.self, NotificationCommand.self, RebuildCommand.self, Maintain.self, Doctor.self,
            AppleCommand.self, AppStoreCommand.self, Reconcile.self, RefreshCommand.self,
            DueCommand.self, NotesCommand.self,
            ConsentCommand.self, ConsumptionCommand.self, ExtensionsCommand.self, CatalogCommand.self,
            FindCommand.self, AccountsCommand.self, SubscriptionsCommand.self, OrdersCommand.self, FiguresCommand.self,
            RatesCommand.self, CommissionCommand.self, FiscalCalendarCommand.self,
            AccountCommand.self, AccountIDsCommand.self, PurchasesCommand.self, GrantCommand.self, ExtendCommand.self,
            RevokeCommand.self,
            UnrevokeCommand.self,
            ChangeTierCommand.self, EndpointsCommand.self, EventsCommand.self, Serve.self, Console.self,
            StaffCommand.self, AuditCommand.self, RefundsCommand.self, Apps.self,
            Demo.self,
        ]
    )
}

/// Runs the command and turns what it threw into one line on standard error and an exit status.
@main
enum Program {
    static func main() async {
        StandardStreams.prepare()
        var acts = false
        do {
            var command = try Storehook.parseAsRoot()
            acts = command is any ActingCommand
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            end(.done, hasActed: acts)
        } catch let failure as CommandFailure {
            tell(failure)
            end(failure.status)
        } catch let status as ExitStatus {
            end(status)
        } catch is OutputLoss {
            end(.done)
        } catch {
            leave(after: error)
        }
    }

    private static func tell(_ failure: CommandFailure) { StandardError.line("storehook: \(failure.message)") }

    /// - Parameter hasActed: whether something was changed, so that a lost answer must not look as if nothing had been.
    private static func end(_ status: ExitStatus, hasActed: Bool = false) -> Never {
        var status = status
        if let loss = StandardOutput.finish() {
            if loss.isOfReader, status == .done, !hasActed {
                StandardError.flush()
                StandardStreams.endByPipe()
            }
            // Where there is something else to say, a reader that went away is not worth a line.
            if status == .done || !loss.isOfReader {
                StandardError.line(
                    "storehook: standard output could not be written: \(loss)"
                        + (hasActed ? "; the command has done its work, and only its answer is lost" : ""))
            }
            if status == .done { status = .failed }
        }
        StandardError.flush()
        exit(status.rawValue)
    }

    /// Ends the process at once, whatever else of it still runs.
    static func leave(after failure: CommandFailure) {
        tell(failure)
        StandardError.flush()
        _exit(failure.status.rawValue)
    }

    /// What ArgumentParser threw: help and version are no failures, the rest is wrong usage.
    private static func leave(after error: any Error) -> Never {
        switch Storehook.exitCode(for: error) {
        case .success:
            StandardOutput.line(HelpText.folded(Storehook.fullMessage(for: error)))
            end(.done)
        case .validationFailure:
            if let unknown = UnknownCommand(CommandLine.arguments.dropFirst()) {
                StandardError.line("storehook: \(unknown.text)")
                end(.usage)
            }
            StandardError.line("storehook: \(Storehook.message(for: error)); --help shows the usage")
            end(.usage)
        default:
            StandardError.line("storehook: \(error)\((error as? PostgresError)?.advice ?? "")")
            end(.failed)
        }
    }
}
