import Foundation

/// What the example is started with.
struct ExampleOptions {
    /// Where `storehook serve` answers.
    var api = URL(fileURLWithPath: "/")
    /// Where `storehook app-store` answers: it stands in for the App Store.
    var standIn = URL(fileURLWithPath: "/")
    /// A token of the account's, as the app's login would give it.
    var token: String?
    /// A command whose output is such a token; it runs for each call that needs one.
    var tokenCommand: String?
    /// The account's id, as the login calls its user.
    var account = "alice"
    /// Whose device this is, at the stand-in. Another customer is another device.
    var customer = "alice"
    /// `Production` or `Sandbox`.
    var environment = "Production"
    /// The folder of what is kept between two launches.
    var folder = "storehook-client-example"
    /// How long access goes on, in seconds, after the last known end while the server cannot be asked.
    var grace: TimeInterval = 3 * 86_400
    /// So many seconds the device's clock is put ahead; behind where it is negative.
    var clockAhead: TimeInterval = 0
    /// The languages of texts, the preferred one first.
    var languages = ["en"]
    /// Whether the output is coloured.
    var isColoured = true
    /// Whether the library's log goes to standard error.
    var writesLog = false
    /// What is done in this launch, in its order.
    var commands: [ExampleCommand] = []
    /// Whether the usage is asked for.
    var wantsHelp = false

    /// How the example is used.
    static let usage = """
        A small app: it sells what the catalog sells, and opens what the account has paid for.

        Usage: storehook-client-example [OPTIONS] [COMMAND...]

        One process is one launch of the app. Commands are done in their order; without one, lines are read from standard
        input, a command each.

          paywall               what is sold, with what each tier gives
          buy PRODUCT           buys, by the catalog's id or Apple's; what is verified is then finished
          pending PRODUCT       the same, where somebody else has to agree first
          cancel PRODUCT        the same, where the customer thinks better of it
          approve               agrees to what is pending, in the same launch
          use FEATURE [TIMES]   uses a feature, once by default: counted at once, up to the tier's limit
          status                the account's plan, until when, what was used, and what is locked
          restore               asks for everything that was bought before
          refresh               asks the server now
          sync                  reports what was used, and reads what the server has counted
          sign-out              forgets the account on this device

        Options, each also as an environment variable (--api is CLIENT_EXAMPLE_API):
          --api URL             where storehook serve answers (http://127.0.0.1:8081)
          --stand-in URL        where storehook app-store answers (http://127.0.0.1:8090)
          --token TOKEN         a token of the account's; --token-command CMD runs a command for each
          --account ID          whose account it is (alice)
          --customer NAME       whose device it is, at the stand-in (the account's id)
          --environment NAME    Production or Sandbox (Production)
          --folder DIR          where the device keeps status and use, of one process alone (storehook-client-example)
          --grace SECONDS       how long access goes on after the last known end, offline (259200)
          --clock-ahead SECONDS how far this device's clock is ahead; negative for behind (0)
          --language TAG        en, zh-Hans or zh-Hant (that of LANG)
          --color WHEN          auto, always or never (auto; NO_COLOR counts)
          --log yes             writes the library's log to standard error (no)

        Example: storehook-client-example --token "$(storehook demo token alice --config .storehook/storehook.env)" paywall
        """
}
