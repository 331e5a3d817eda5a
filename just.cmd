@echo off
rem Sets up what the recipe needs (see harness\bootstrap), then runs the real just.
setlocal
for %%P in ("py -3" python3 python) do (
  %%~P -I -S -c "import sys; sys.exit(sys.version_info < (3, 11))" >nul 2>nul
  if not errorlevel 1 (
    %%~P -I -S "%~dp0harness\bootstrap" %*
    goto :end
  )
)
echo sqlitmus needs Python 3.11 or newer, and none is on PATH; install it from https://www.python.org/downloads 1>&2
exit /b 3
:end
exit /b %errorlevel%
